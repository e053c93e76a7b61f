import { metadataSchema } from '#responses';
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
