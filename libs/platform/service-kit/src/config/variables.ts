import { z } from 'zod';

/** Thrown at boot; its message names the variable. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
}

/** A boolean variable. */
export const booleanSchema = z
  .enum(['true', 'false', '1', '0', 'yes', 'no'])
  .transform((value) => value === 'true' || value === '1' || value === 'yes');

/** Maximum milliseconds of a timer: a longer timer would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

/** Maximum bytes of a limit for a disk: a pebibyte. */
const maxStoredBytes = 2 ** 50;
/** Maximum bytes in memory: the maximum length of a JavaScript string, and the maximum size of a Buffer. */
const maxJsonBytes = 2 ** 29 - 24;
const maxHeldBytes = 2 ** 32;
/** The maximum integer of Postgres. */
const maxCount = 2 ** 31 - 1;

/** A variable with a time in milliseconds. */
export function milliseconds(atLeast: number, atMost = maxTimerMs): z.ZodCoercedNumber {
  return z.coerce.number().int().min(atLeast).max(atMost);
}

/** A variable with a time in seconds, for which a timer waits. */
export function seconds(atLeast: number): z.ZodCoercedNumber {
  return z.coerce
    .number()
    .min(atLeast)
    .max(Math.floor(maxTimerMs / 1_000));
}

/** A variable with a time in days: a hundred years at most. */
export function days(): z.ZodCoercedNumber {
  return z.coerce.number().min(0).max(36_500);
}

/** A variable with a size in bytes: `stored` on a disk, `held` in memory, or of a `json` text. */
export function bytes(kind: 'stored' | 'held' | 'json', atLeast = 1024): z.ZodCoercedNumber {
  const atMost = { stored: maxStoredBytes, held: maxHeldBytes, json: maxJsonBytes }[kind];
  return z.coerce.number().int().min(atLeast).max(atMost);
}

/** A variable with a number of objects. */
export function count(atLeast: number, atMost = maxCount): z.ZodCoercedNumber {
  return z.coerce.number().int().min(atLeast).max(atMost);
}
