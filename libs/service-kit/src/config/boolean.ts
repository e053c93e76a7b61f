import { z } from 'zod';

/** A variable that says yes or no. */
export const booleanSchema = z
  .enum(['true', 'false', '1', '0', 'yes', 'no'])
  .transform((value) => value === 'true' || value === '1' || value === 'yes');
