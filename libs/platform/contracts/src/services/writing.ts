import { z } from 'zod';
import {
  chatMessageSchema,
  generationChunkSchema,
  generationParametersSchema,
  samplingShape,
  usageSchema,
} from './llm.js';
import { defineMethod } from './method.js';

export const summaryTypes = ['auto', 'stuff', 'truncate', 'map_reduce', 'refine'] as const;
export type SummaryType = (typeof summaryTypes)[number];

/** How to split long texts; -1 lets the service choose, as in OPEA's reference. */
const pieceShape = {
  chunk_size: z
    .union([z.int().min(20).max(100_000), z.literal(-1)])
    .optional()
    .describe('Words per piece of a long text; -1: as many as the model accepts'),
  chunk_overlap: z
    .int()
    .min(-1)
    .max(10_000)
    .optional()
    .describe('Words that a piece repeats from the previous one; -1: none'),
  language: z
    .string()
    .regex(/^[A-Za-z][A-Za-z -]{1,40}$/, 'expected a language, e.g. en, German or auto')
    .optional()
    .describe('Language to write in; auto: the language of the text'),
};

export const summaryParametersSchema = z.object({
  summary_type: z
    .enum(summaryTypes)
    .optional()
    .describe(
      'stuff: the whole text; truncate: its beginning; map_reduce: pieces, then their summaries; refine: piece after piece',
    ),
  ...pieceShape,
  max_tokens: generationParametersSchema.shape.max_tokens,
  ...samplingShape,
});

export const faqParametersSchema = z.object({
  faq_count: z.int().min(1).max(50).optional().describe('Maximum number of questions to write'),
  ...pieceShape,
  max_tokens: generationParametersSchema.shape.max_tokens,
  ...samplingShape,
});

const asked = {
  text: z.string().min(1, 'there is no text to read'),
  model: z.string().optional().describe('The language model; absent: the served model'),
};

/**
 * `llm.summarize`: a summary of a text as a stream of chunks. A model that can write writes it; for other models it
 * consists of the most central sentences of the text. Errors: context_length_exceeded (stuff), overloaded,
 * service_unavailable (the embedding service, for central sentences), model_not_found.
 */
export const summarize = defineMethod({
  service: 'llm',
  method: 'summarize',
  request: summaryParametersSchema.extend(asked),
  reply: generationChunkSchema,
  streaming: true,
});

/** `llm.faq`: questions that a text answers, and the answers, as a stream of chunks. Errors: as `llm.summarize`. */
export const writeFaq = defineMethod({
  service: 'llm',
  method: 'faq',
  request: faqParametersSchema.extend(asked),
  reply: generationChunkSchema,
  streaming: true,
});

/** Search queries that a model may write for one question. */
export const maxSearchQueries = 3;

/**
 * `llm.search_queries`: queries that find the passages for the last message of a conversation, the most important one
 * first. The list is empty if the message needs no search, or if the model does not write. Errors: overloaded,
 * deadline_exceeded, and the errors of a remote engine.
 */
export const writeSearchQueries = defineMethod({
  service: 'llm',
  method: 'search_queries',
  request: z.object({
    messages: z.array(chatMessageSchema).min(1),
    languages: z.array(z.string()).max(8).optional().describe('Languages of the documents, where known'),
  }),
  reply: z.object({
    queries: z.array(z.string()).max(maxSearchQueries),
    /** Why the answer of the model is not used. */
    problem: z.enum(['empty', 'too_long']).optional(),
    usage: usageSchema.optional(),
  }),
});
