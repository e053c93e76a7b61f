import { z } from 'zod';

/** Thrown at boot; its message names the variable. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
}

/** A variable that says yes or no. */
export const booleanSchema = z
  .enum(['true', 'false', '1', '0', 'yes', 'no'])
  .transform((value) => value === 'true' || value === '1' || value === 'yes');

/** Milliseconds of the longest timer: a longer one would end at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Most bytes that a disk is asked to hold: a pebibyte. */
const mostStoredBytes = 2 ** 50;
/** Most bytes that a process holds at once: the longest text of JavaScript, and the greatest Buffer. */
const mostJsonBytes = 2 ** 29 - 24;
const mostHeldBytes = 2 ** 32;
/** The greatest integer of Postgres. */
const mostThings = 2 ** 31 - 1;

/** A variable with a time in milliseconds. */
export function milliseconds(atLeast: number, atMost = longestTimerMs): z.ZodCoercedNumber {
  return z.coerce.number().int().min(atLeast).max(atMost);
}

/** A variable with a time in seconds, for which a timer waits. */
export function seconds(atLeast: number): z.ZodCoercedNumber {
  return z.coerce
    .number()
    .min(atLeast)
    .max(Math.floor(longestTimerMs / 1_000));
}

/** A variable with a time in days: a hundred years at most. */
export function days(): z.ZodCoercedNumber {
  return z.coerce.number().min(0).max(36_500);
}

/** A variable with a size: of what is `stored`, of what a process `held`, or of a text of `json`. */
export function bytes(kind: 'stored' | 'held' | 'json', atLeast = 1024): z.ZodCoercedNumber {
  const atMost = { stored: mostStoredBytes, held: mostHeldBytes, json: mostJsonBytes }[kind];
  return z.coerce.number().int().min(atLeast).max(atMost);
}

/** A variable with a number of things. */
export function count(atLeast: number, atMost = mostThings): z.ZodCoercedNumber {
  return z.coerce.number().int().min(atLeast).max(atMost);
}
