import { z } from 'zod';
import type { EmbeddingResponse } from './embeddings.js';

/** Answers of OpenAI's endpoints, for the OpenAPI documents; the tests hold real answers against them. */

const usage = z.looseObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
});
const finishReason = z.enum(['stop', 'length', 'tool_calls', 'function_call', 'content_filter']);
const completionHead = {
  id: z.string(),
  created: z.int().describe('Unix seconds'),
  model: z.string(),
  system_fingerprint: z.string().optional(),
};
const logprobs = z.looseObject({}).nullish();

/** OpenAI's `chat.completion`. */
export const chatCompletionSchema = z.looseObject({
  ...completionHead,
  object: z.literal('chat.completion'),
  choices: z.array(
    z.looseObject({
      index: z.int(),
      message: z.looseObject({
        role: z.literal('assistant'),
        content: z.string().nullable(),
        refusal: z.string().nullable(),
        annotations: z.array(z.looseObject({ type: z.string() })).optional(),
        tool_calls: z.array(z.looseObject({ id: z.string(), type: z.string() })).optional(),
      }),
      logprobs,
      finish_reason: finishReason,
    }),
  ),
  usage,
});

/** OpenAI's `chat.completion.chunk`, the data of each event of a stream; the stream ends in `[DONE]`. */
export const chatCompletionChunkSchema = z.looseObject({
  ...completionHead,
  object: z.literal('chat.completion.chunk'),
  choices: z.array(
    z.looseObject({
      index: z.int(),
      delta: z.looseObject({
        role: z.literal('assistant').optional(),
        content: z.string().nullish(),
        refusal: z.string().nullish(),
      }),
      logprobs,
      finish_reason: finishReason.nullable(),
    }),
  ),
  usage: usage.nullish(),
});

/** OpenAI's list of embeddings. */
export const embeddingResponseSchema: z.ZodType<EmbeddingResponse> = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      object: z.literal('embedding'),
      index: z.int(),
      embedding: z.union([z.array(z.number()), z.string().describe('base64 of little-endian Float32')]),
    }),
  ),
  model: z.string(),
  usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
});

/** OpenAI's model, with what else is known of it. */
export const modelSchema = z.looseObject({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
});

export const modelListSchema = z.object({ object: z.literal('list'), data: z.array(modelSchema) });

/** The list of models with the catalogue that the Codex CLI reads. */
export const modelCatalogueSchema = modelListSchema.extend({
  models: z.array(modelSchema.extend({ slug: z.string() })),
});
