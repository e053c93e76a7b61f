import { z } from 'zod';

/** A filter becomes one SQL condition whose work grows with values times chunks. */
const mostKeys = 16;
const mostValues = 1_000;

const scalar = z.union(
  [z.string().max(512), z.number(), z.boolean()],
  'must be a string of at most 512 characters, a number or a boolean',
);

/** Keeps chunks whose metadata have all of these values; a list means any of its values. */
export const metadataFilterSchema = z
  .record(z.string().max(64), z.union([scalar, z.array(scalar).max(mostValues)]))
  .refine((filter) => Object.keys(filter).length <= mostKeys, `has more than ${mostKeys} keys`)
  .refine(
    (filter) => Object.values(filter).flat().length <= mostValues,
    `has more than ${mostValues} values`,
  );

/** See {@link metadataFilterSchema}. */
export type MetadataFilter = z.infer<typeof metadataFilterSchema>;
