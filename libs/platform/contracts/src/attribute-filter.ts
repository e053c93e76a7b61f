import { z } from 'zod';

/** Compares one attribute. An absent attribute equals no value: it passes only `ne` and `nin`. */
export type ComparisonFilter =
  | { type: 'eq' | 'ne'; key: string; value: string | number | boolean }
  /** Compares numbers by size and strings by code points. A value of the other type never passes. */
  | { type: 'gt' | 'gte' | 'lt' | 'lte'; key: string; value: string | number }
  | { type: 'in' | 'nin'; key: string; value: (string | number)[] };

/** Without any filter `and` passes everything and `or` nothing. */
export interface CompoundFilter {
  type: 'and' | 'or';
  filters: AttributeFilter[];
}

/** Which documents a search looks at, by their attributes: OpenAI's filter of file searches. */
export type AttributeFilter = ComparisonFilter | CompoundFilter;

/** A filter becomes one SQL condition, so its size has a limit. */
const deepest = 8;
const maxComparisons = 256;
const maxValues = 1_000;

const key = z.string().max(64);
const text = z.string().max(512);
const filterSchema: z.ZodType<AttributeFilter> = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.enum(['eq', 'ne']),
    key,
    value: z.union([text, z.number(), z.boolean()], 'must be a string, a number or a boolean'),
  }),
  z.strictObject({
    type: z.enum(['gt', 'gte', 'lt', 'lte']),
    key,
    value: z.union([text, z.number()], 'must be a number or a string'),
  }),
  z.strictObject({
    type: z.enum(['in', 'nin']),
    key,
    value: z.array(z.union([text, z.number()]), 'must be a list of strings and numbers').max(maxValues),
  }),
  z.strictObject({
    type: z.enum(['and', 'or']),
    filters: z.array(z.lazy(() => filterSchema)).max(maxComparisons),
  }),
]);

/** Errors name the path of the part that is wrong. */
export const attributeFilterSchema = z
  .unknown()
  .refine((value) => depthOf(value) <= deepest, `is nested deeper than ${deepest} levels`)
  .pipe(filterSchema)
  .refine((filter) => comparisonsOf(filter) <= maxComparisons, `has more than ${maxComparisons} comparisons`);

/** Checked before the schema, which would recurse to any depth. */
function depthOf(value: unknown): number {
  let level = [value];
  for (let depth = 1; ; depth += 1) {
    level = level.flatMap((part) => {
      const filters = (part as { filters?: unknown } | null | undefined)?.filters;
      return Array.isArray(filters) ? (filters as unknown[]) : [];
    });
    if (level.length === 0 || depth > deepest) return depth;
  }
}

function comparisonsOf(filter: AttributeFilter): number {
  return 'filters' in filter ? filter.filters.reduce((sum, part) => sum + comparisonsOf(part), 0) : 1;
}

/** A filter becomes one SQL condition whose work grows with values times chunks. */
const maxKeys = 16;

const scalar = z.union(
  [z.string().max(512), z.number(), z.boolean()],
  'must be a string of at most 512 characters, a number or a boolean',
);

/** Keeps chunks whose metadata have all of these values; a list means any of its values. */
export const metadataFilterSchema = z
  .record(z.string().max(64), z.union([scalar, z.array(scalar).max(maxValues)]))
  .refine((filter) => Object.keys(filter).length <= maxKeys, `has more than ${maxKeys} keys`)
  .refine((filter) => Object.values(filter).flat().length <= maxValues, `has more than ${maxValues} values`);

/** See {@link metadataFilterSchema}. */
export type MetadataFilter = z.infer<typeof metadataFilterSchema>;
