import { includeSchema, metadataSchema } from '#responses';
import { z } from 'zod';

/** Answers of the Responses and Conversations APIs, for the OpenAPI document. */

const item = z.looseObject({ type: z.string(), id: z.string().optional() });

/** OpenAI's response object. */
export const responseAnswer = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.number().describe('Unix seconds'),
  status: z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
  model: z.string(),
  output: z.array(item),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  incomplete_details: z.looseObject({ reason: z.string() }).nullable(),
  usage: z.looseObject({}).nullable(),
  metadata: metadataSchema.nullable(),
});

/** One event of a response's log. */
export const responseEvent = z.looseObject({ type: z.string(), sequence_number: z.int() });

/** A page of items. */
export const itemListAnswer = z.object({
  object: z.literal('list'),
  data: z.array(item),
  first_id: z.string(),
  last_id: z.string(),
  has_more: z.boolean(),
});

/** What a delete answers; `object` tells of what kind it was. */
export const deletedAnswer = z.object({ id: z.string(), object: z.string(), deleted: z.boolean() });

export const inputTokensAnswer = z.object({
  object: z.literal('response.input_tokens'),
  input_tokens: z.int(),
});

export const conversationAnswer = z.object({
  id: z.string(),
  object: z.literal('conversation'),
  created_at: z.number().describe('Unix seconds'),
  metadata: metadataSchema,
});

export const itemAnswer = item;

/** What a conversation can go on from. */
export const compactionAnswer = z.object({
  id: z.string(),
  object: z.literal('response.compaction'),
  created_at: z.int().describe('Unix seconds'),
  output: z.array(z.looseObject({ type: z.string().optional() })),
  usage: z.looseObject({}),
});

/** A page of conversations. */
export const conversationListAnswer = z.object({
  object: z.literal('list'),
  data: z.array(conversationAnswer),
  first_id: z.string(),
  last_id: z.string(),
  has_more: z.boolean(),
});

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

/** OpenAI's list of objects with ids; an empty one has empty ids. */
export function itemList<Item extends { id?: string }>({
  items,
  hasMore,
}: {
  items: Item[];
  hasMore: boolean;
}) {
  return {
    object: 'list' as const,
    data: items,
    first_id: items[0]?.id ?? '',
    last_id: items.at(-1)?.id ?? '',
    has_more: hasMore,
  };
}
