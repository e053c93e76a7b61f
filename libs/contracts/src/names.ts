import { z } from 'zod';

/** Control characters, halves of surrogate pairs and line separators: a database drops or replaces some of them. */
const unwritable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/**
 * A name that callers choose, at most `longest` characters. It reaches every check and the database as it is: a name that
 * a later step would change is refused.
 */
export function nameSchema(longest: number) {
  return z
    .string()
    .min(1)
    .max(longest)
    .refine((name) => !unwritable.test(name), 'has a control character');
}
