import { z } from 'zod';
import { retrievedDocumentSchema } from './documents.js';
import { modelInfoSchema } from './embedding.js';
import { defineMethod } from './method.js';

/** A turn of the conversation, its content already reduced to text. */
export const chatMessageSchema = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.string(),
  name: z.string().optional(),
});
export type ChatMessage = z.infer<typeof chatMessageSchema>;

/** Sampling and length, in OpenAI's names plus the usual extensions of vLLM and OPEA. */
export const generationParametersSchema = z.object({
  max_tokens: z.int().min(1).optional().describe('Most tokens to generate'),
  temperature: z.number().min(0).max(2).optional().describe('0 is greedy'),
  top_p: z.number().gt(0).max(1).optional().describe('Nucleus sampling'),
  top_k: z.int().min(0).optional().describe('Sample among the k likeliest tokens; 0: all'),
  min_p: z.number().min(0).max(1).optional().describe('Drop tokens below this share of the likeliest one'),
  frequency_penalty: z.number().min(-2).max(2).optional(),
  presence_penalty: z.number().min(-2).max(2).optional(),
  repetition_penalty: z.number().gt(0).max(10).optional(),
  logit_bias: z
    .record(z.string().regex(/^\d+$/), z.number().min(-100).max(100))
    .optional()
    .describe('Token id to bias'),
  seed: z.int().optional().describe('The same seed gives the same tokens'),
  stop: z
    .union([z.string().min(1), z.array(z.string().min(1)).max(16)])
    .optional()
    .describe('Stop before this text'),
  n: z.int().min(1).max(16).optional().describe('Number of answers'),
  logprobs: z.boolean().optional(),
  top_logprobs: z.int().min(0).max(20).optional(),
  ignore_eos: z.boolean().optional(),
  num_assistant_tokens: z
    .int()
    .min(0)
    .max(15)
    .optional()
    .describe('Tokens guessed ahead from the prompt and checked in one pass; pays where answers quote'),
  max_ngram_size: z.int().min(1).max(8).optional().describe('Longest run of tokens looked up for a guess'),
});
export type GenerationParameters = z.infer<typeof generationParametersSchema>;

export const tokenLogprobSchema = z.object({
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.int()).nullable(),
  top_logprobs: z.array(
    z.object({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()).nullable() }),
  ),
});
export type TokenLogprob = z.infer<typeof tokenLogprobSchema>;

export const usageSchema = z.object({
  promptTokens: z.int(),
  completionTokens: z.int(),
  cachedTokens: z.int(),
});
export type TokenUsage = z.infer<typeof usageSchema>;

/** Where an answer's text came from: character offsets into the answer, and the passage that really holds it. */
export const citationSchema = z.object({
  startIndex: z.int(),
  endIndex: z.int(),
  /** The passage number `[n]` of the prompt, from 1. */
  passage: z.int(),
  documentId: z.string(),
  quote: z.string(),
});
export type Citation = z.infer<typeof citationSchema>;

export const generationChunkSchema = z.object({
  /** Which of the n answers this belongs to. */
  choice: z.int(),
  text: z.string(),
  logprobs: z.array(tokenLogprobSchema).optional(),
  finishReason: z.enum(['stop', 'length']).optional(),
  citations: z.array(citationSchema).optional(),
  /** On the last chunk of the stream only. */
  usage: usageSchema.optional(),
  model: z.string().optional(),
});
export type GenerationChunk = z.infer<typeof generationChunkSchema>;

/**
 * `llm.generate`: a stream of text chunks for a conversation. With `documents` the answer is grounded: the service
 * writes the prompt that its model wants, checks quotes and resolves `[n]` to the documents.
 * Errors: context_length_exceeded, overloaded, model_not_found.
 */
export const generate = defineMethod({
  service: 'llm',
  method: 'generate',
  request: generationParametersSchema.extend({
    messages: z.array(chatMessageSchema).min(1),
    documents: z.array(retrievedDocumentSchema).optional(),
    model: z.string().optional(),
    chat_template: z
      .string()
      .optional()
      .describe('Template of the grounded prompt with {context} and {question}'),
  }),
  reply: generationChunkSchema,
  streaming: true,
});

export const describeLlmModel = defineMethod({
  service: 'llm',
  method: 'describe',
  request: z.object({}),
  reply: modelInfoSchema,
});

/** `llm.count_tokens`: how long the prompt is that a conversation without documents becomes. */
export const countPromptTokens = defineMethod({
  service: 'llm',
  method: 'count_tokens',
  request: z.object({ messages: z.array(chatMessageSchema).min(1), model: z.string().optional() }),
  reply: z.object({
    promptTokens: z.int(),
    /** Most tokens that the model takes, prompt and answer together. */
    maxInputTokens: z.int(),
  }),
});
