import { z } from 'zod';
import { defineMethod } from './method.js';

export const embeddingParametersSchema = z.object({
  dimensions: z
    .int()
    .min(1)
    .max(4096)
    .optional()
    .describe('Truncate each vector to this width and normalise again'),
  truncate: z.boolean().optional().describe('Cut over-long inputs instead of refusing them'),
});
export type EmbeddingParameters = z.infer<typeof embeddingParametersSchema>;

export const modelInfoSchema = z.object({
  id: z.string(),
  revision: z.string().describe('Short content hash of the weights'),
  backend: z.string().describe('What runs it, e.g. onnx-cpu'),
  maxInputTokens: z.int(),
  assumesLength: z.literal(true).optional().describe('maxInputTokens is a guess: its engine does not say'),
  created: z.int().describe('Unix seconds'),
  dimensions: z.int().optional().describe('Width of the vectors; embedders only'),
  modalities: z
    .array(z.enum(['text', 'image']))
    .optional()
    .describe('What it reads; text alone where absent'),
  defaults: z
    .object({
      max_tokens: z.int().optional(),
      temperature: z.number().optional(),
      top_p: z.number().optional(),
    })
    .optional()
    .describe('What applies to a request that does not say; absent where only an engine elsewhere knows'),
  followsInstructions: z
    .boolean()
    .optional()
    .describe('False: it quotes and follows no system prompt; language models only'),
  callsTools: z.boolean().optional().describe('False: it calls no tools; language models only'),
  quotesDocuments: z
    .boolean()
    .optional()
    .describe('True: answers from documents are sentences of them, which sampling does not change'),
  condensesWithinMs: z
    .int()
    .optional()
    .describe('It rewrites follow-up questions for the search, in this time at most; language models only'),
  templateVariables: z
    .array(z.string())
    .optional()
    .describe('What its chat template understands of tools, enable_thinking and reasoning_effort'),
});
export type ModelInfo = z.infer<typeof modelInfoSchema>;

/** `embedding.embed`: texts or token arrays to unit vectors. Errors: context_length_exceeded, overloaded. */
export const embed = defineMethod({
  service: 'embedding',
  method: 'embed',
  request: embeddingParametersSchema.extend({
    inputs: z.union([
      z.array(z.string().min(1)).min(1).max(2048),
      z
        .array(z.array(z.int().min(0)).min(1))
        .min(1)
        .max(2048),
    ]),
    model: z.string().optional(),
  }),
  reply: z.object({
    model: z.string(),
    dimensions: z.int(),
    /** base64 little-endian Float32, one vector after the other. */
    vectors: z.string(),
    promptTokens: z.int(),
  }),
});

export const describeEmbeddingModel = defineMethod({
  service: 'embedding',
  method: 'describe',
  request: z.object({}),
  reply: modelInfoSchema,
});
