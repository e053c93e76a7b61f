import { maxPosition } from '#platform/contracts';
import { listSchemaOf, pageShape } from '#api/openai-api';
import { includeSchema, metadataSchema } from '#api/responses';
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
export const itemListAnswer = listSchemaOf(item);

/** The answer to a delete request; `object` is the type of the deleted object. */
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

/** A compacted conversation, from which the client can continue. */
export const compactionAnswer = z.object({
  id: z.string(),
  object: z.literal('response.compaction'),
  created_at: z.int().describe('Unix seconds'),
  output: z.array(z.looseObject({ type: z.string().optional() })),
  usage: z.looseObject({}),
});

/** A page of conversations. */
export const conversationListAnswer = listSchemaOf(conversationAnswer);

/** A repeated query parameter is parsed as an array, a single one as a string. Some clients write `include[]`. */
const include = z
  .union([z.string().transform((value) => [value]), z.array(z.string())])
  .pipe(includeSchema)
  .default([]);

/** Query of a list of items. */
export const pageQuerySchema = z.object({
  ...pageShape,
  order: z.enum(['asc', 'desc']).default('desc'),
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
  starting_after: z.coerce.number().int().min(-1).max(maxPosition).default(-1),
  include,
});
export type RetrieveQuery = z.output<typeof retrieveQuerySchema>;
