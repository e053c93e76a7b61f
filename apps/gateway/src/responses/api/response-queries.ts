import { includeSchema } from '#responses';
import { z } from 'zod';

/** A repeated query parameter comes as an array, a single one as a string; some clients write `include[]`. */
const include = z
  .union([z.string().transform((value) => [value]), z.array(z.string())])
  .pipe(includeSchema)
  .default([]);

/** Query of a list: 1 to 100 items, 20 where it does not say. */
export const pageQuerySchema = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(['asc', 'desc']).default('desc'),
  after: z.string().optional(),
  before: z.string().optional(),
  include,
});
export type PageQuery = z.output<typeof pageQuerySchema>;

/** Query of `GET /v1/responses/{id}`. */
export const retrieveQuerySchema = z.object({
  stream: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true'),
  starting_after: z.coerce.number().int().min(-1).default(-1),
  include,
});
export type RetrieveQuery = z.output<typeof retrieveQuerySchema>;
