import { z } from 'zod';
import {
  chatMessageSchema,
  generate,
  generationChunkSchema,
  generationParametersSchema,
  toolSchema,
} from './llm.js';
import { defineMethod } from './method.js';

const tokenIds = z.array(z.int().min(0)).min(1).max(1_000_000);

/**
 * `llm.complete`: goes on with a prompt as it is, without a chat template. Errors: context_length_exceeded, overloaded,
 * unsupported_parameter for a suffix that the model cannot lead to.
 */
export const complete = defineMethod({
  service: 'llm',
  method: 'complete',
  request: generationParametersSchema.extend({
    prompt: z.union([z.string().min(1), tokenIds]).describe('A text, or the ids of tokens'),
    suffix: z
      .string()
      .optional()
      .describe('The text after the completion, for models that fill in the middle'),
    model: z.string().optional(),
    labels: generate.request.shape.labels,
  }),
  reply: generationChunkSchema,
  streaming: true,
});

/** `llm.tokenize`: the tokens of a text, or of the prompt of a conversation. Errors: unsupported_parameter. */
export const tokenize = defineMethod({
  service: 'llm',
  method: 'tokenize',
  request: z.object({
    text: z.string().max(200_000).optional(),
    messages: z.array(chatMessageSchema).min(1).optional(),
    tools: z.array(toolSchema).max(512).optional(),
    add_special_tokens: z.boolean().optional().describe('false: the tokens of the text alone'),
    model: z.string().optional(),
  }),
  reply: z.object({ tokens: z.array(z.int()), texts: z.array(z.string()), maxInputTokens: z.int() }),
});

/** `llm.detokenize`: the text of tokens. Errors: invalid_request for an unknown token; unsupported_parameter. */
export const detokenize = defineMethod({
  service: 'llm',
  method: 'detokenize',
  request: z.object({ tokens: tokenIds, model: z.string().optional() }),
  reply: z.object({ text: z.string() }),
});
