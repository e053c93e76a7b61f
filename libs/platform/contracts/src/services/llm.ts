import { z } from 'zod';
import { fileReferenceSchema } from './dataprep.js';
import {
  neighbourSchema,
  placeInFile,
  retrievedDocumentSchema,
  type RetrievedDocument,
} from '../documents.js';
import { defineMethod, describeMethod, modelInfoSchema } from './method.js';
import { templateVariablesSchema } from '../template-variables.js';

/** A call of a tool, complete: `input` is JSON for a function, raw text for a custom tool. */
export const toolCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  input: z.string(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

/** Maximum images of one request, including the images of earlier turns. */
export const maxImages = 32;

/** An image of a user's message or of a tool's result. */
const chatImageSchema = z.object({
  /** A data URL, or the address of the image, as the gateway received it. */
  url: z.string().optional(),
  /** The image in the object store, in place of the `url`, for the language model. */
  file: fileReferenceSchema.optional(),
  /** The level of detail that the model uses: `auto`, `low`, `high`. */
  detail: z.string().optional(),
  /** Its path in the caller's request, for errors. */
  param: z.string().optional(),
  /** Number of characters of the turn's `content` before it; absent: after the text. */
  at: z.int().min(0).optional(),
});

/** The source of a file in a message: a stored file has an `id`, a file of the web a `url`. */
export interface AttachedFile {
  filename: string;
  id?: string;
  url?: string;
}

/** A file of a turn. Its text, after a line with its name, is a part of the turn's `content`. */
export interface ChatFile extends AttachedFile {
  /** Number of characters of the content before it. */
  at: number;
  length: number;
}

/** A turn of the conversation: its content as text, and its images. */
export const chatMessageSchema = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.string(),
  /** Images of the user, or of a tool's result, for models that accept them. */
  images: z.array(chatImageSchema).max(maxImages).optional(),
  name: z.string().optional(),
  /** Of the assistant: its tool calls in this turn. */
  toolCalls: z.array(toolCallSchema).optional(),
  /** Of a tool: the id of the call with this result. */
  toolCallId: z.string().optional(),
  /** Of the assistant: its reasoning before `content`. */
  reasoning: z.string().optional(),
});
/** A turn in the gateway also knows which ranges of its `content` are files. Services do not get them. */
export type ChatMessage = z.infer<typeof chatMessageSchema> & { files?: ChatFile[] };

/** Path of the schema, expression or grammar in the caller's request: errors name it. */
const at = z.string().optional();

const jsonSchema = z.union([z.boolean(), z.record(z.string(), z.unknown())]);

/** A tool that the model may call. */
export const toolSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('function'),
    name: z.string().min(1).max(128),
    description: z.string().optional(),
    /** JSON Schema of the arguments; any object where absent. */
    parameters: z.record(z.string(), z.unknown()).optional(),
    /** Decoding of the arguments is constrained to the schema. */
    strict: z.boolean().optional(),
    at,
  }),
  z.object({
    type: z.literal('custom'),
    name: z.string().min(1).max(128),
    description: z.string().optional(),
    /** The grammar of the raw input; any text where absent. */
    grammar: z.object({ syntax: z.enum(['lark', 'regex']), definition: z.string() }).optional(),
    at,
  }),
]);
export type Tool = z.infer<typeof toolSchema>;

/** `required`: at least one call. `names` narrows the tools that may be called. */
export const toolChoiceSchema = z.object({
  mode: z.enum(['auto', 'none', 'required']),
  names: z.array(z.string()).min(1).optional(),
});
export type ToolChoice = z.infer<typeof toolChoiceSchema>;

const tagFields = {
  begin: z.string().min(1),
  end: z.string(),
  at,
  /** The schema is made of the text at `at`: errors name this text and not a part of the schema. */
  derived: z.boolean().optional(),
};

/** The constraint on an answer's text during decoding: each complete answer satisfies it. */
export const outputConstraintSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('json_object'), at }),
  z.object({ type: z.literal('json_schema'), schema: jsonSchema, at }),
  z.object({ type: z.literal('regex'), pattern: z.string().min(1), at }),
  z.object({ type: z.literal('choice'), choices: z.array(z.string().min(1)).min(1), at }),
  /** A grammar in GBNF, an EBNF, with a rule `root`. */
  z.object({ type: z.literal('grammar'), grammar: z.string().min(1), at }),
  /**
   * Free text in which each `trigger` begins one of the `tags`. The text between `begin` and `end` matches the schema.
   */
  z.object({
    type: z.literal('structural_tag'),
    triggers: z.array(z.string().min(1)).min(1),
    tags: z
      .array(
        z.union([
          z.object({ ...tagFields, schema: jsonSchema }),
          /** A text of the Lark grammar between them, escaped as in a JSON string unless it is `raw`. */
          z.object({ ...tagFields, lark: z.string().min(1), raw: z.boolean().optional() }),
          /** Parameters in tags between them, in Qwen3-Coder's format, of an object that matches the schema. */
          z.object({ ...tagFields, parameters: z.record(z.string(), z.unknown()) }),
        ]),
      )
      .min(1),
    /** The answer begins with a tag and ends after the last one. */
    required: z.boolean().optional(),
    /** At most one tag. */
    single: z.boolean().optional(),
    at,
  }),
]);
export type OutputConstraint = z.infer<typeof outputConstraintSchema>;

/** The sampling parameters. Chat, summaries and FAQs accept each of them; quoted answers report each as ignored. */
export const samplingShape = {
  temperature: z.number().min(0).max(2).optional().describe('0 is greedy'),
  top_p: z.number().min(0).max(1).optional().describe('Nucleus sampling; 0: the most likely token'),
  top_k: z.int().min(-1).optional().describe('Sample from the k most likely tokens; 0 and -1: all'),
  min_p: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('Drop tokens below this share of the probability of the most likely token'),
  frequency_penalty: z.number().min(-2).max(2).optional(),
  presence_penalty: z.number().min(-2).max(2).optional(),
  repetition_penalty: z.number().gt(0).max(10).optional(),
  seed: z.int().optional().describe('The same seed gives the same tokens'),
};

/**
 * A limit of tokens in a caller's request: -1 means no limit, as in SGLang, llama.cpp and LM Studio. Read it with
 * {@link tokenLimitOf}.
 */
export const tokenLimitSchema = z
  .int()
  .min(-1)
  .refine((limit) => limit !== 0, 'must be at least 1, or -1 for no limit');

/** The limit of a request; undefined for -1, null and an absent one. */
export function tokenLimitOf(limit: number | null | undefined): number | undefined {
  return limit === -1 ? undefined : (limit ?? undefined);
}

/** Sampling and length, with OpenAI's names and the usual extensions of vLLM and OPEA. */
export const generationParametersSchema = z.object({
  max_tokens: z.int().min(1).optional().describe('Maximum number of tokens to generate'),
  ...samplingShape,
  logit_bias: z
    .record(z.string().regex(/^\d+$/), z.number().min(-100).max(100))
    .optional()
    .describe('Token id to bias'),
  stop: z
    .union([z.string().min(1), z.array(z.string().min(1)).max(16)])
    .optional()
    .describe('Stop before this text'),
  n: z.int().min(1).max(16).optional().describe('Number of answers'),
  logprobs: z.boolean().optional(),
  top_logprobs: z.int().min(0).max(20).optional(),
  ignore_eos: z.boolean().optional(),
  include_stop_str_in_output: z.boolean().optional().describe('Keep the stop text that ended the answer'),
  best_of: z
    .int()
    .min(1)
    .max(16)
    .optional()
    .describe(
      'Number of answers to generate; the n with the highest mean log probability are returned; not streamed',
    ),
  constraint: outputConstraintSchema.optional().describe('Constraint on the text of the answer'),
  num_assistant_tokens: z
    .int()
    .min(0)
    .max(15)
    .optional()
    .describe(
      'Tokens predicted from the prompt and verified in one pass; faster for answers that quote the prompt',
    ),
  max_ngram_size: z
    .int()
    .min(1)
    .max(8)
    .optional()
    .describe('Maximum length of the token sequence to look up for a prediction'),
});
export type GenerationParameters = z.infer<typeof generationParametersSchema>;

/** Parameters of sampling, or of its speed: without effect on answers that quote sentences. */
const withoutEffectOnQuotes = [
  ...(Object.keys(samplingShape) as (keyof typeof samplingShape)[]),
  'logit_bias',
  'ignore_eos',
  'num_assistant_tokens',
  'max_ngram_size',
] as const;

/** The parameters of a request that have no effect on a quoted answer. */
export function samplingParameters(parameters: GenerationParameters): string[] {
  return withoutEffectOnQuotes.filter((name) => parameters[name] !== undefined);
}

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
  /** The number of completion tokens for reasoning. */
  reasoningTokens: z.int().optional(),
});
export type TokenUsage = z.infer<typeof usageSchema>;

/** The source of an answer's text: character offsets in the answer, and the sentence of a passage that supports it. */
export const citationSchema = z.object({
  startIndex: z.int(),
  endIndex: z.int(),
  /** The number `[n]` of the passage in the answer, from 1 in the order of first use. */
  passage: z.int(),
  /** The chunk with the quote. */
  documentId: z.string(),
  /** The nearest sentence of the passage, in its words. */
  quote: z.string(),
  /** Character offsets of the quote in the text of the chunk. */
  quoteStart: z.int().optional(),
  quoteEnd: z.int().optional(),
  /** The answer has no marker for the passage: its words are those of the passage. */
  inferred: z.boolean().optional(),
});
export type Citation = z.infer<typeof citationSchema>;

/** The quote of a citation in the annotations of each API. */
export interface QuoteFields {
  /** The number `[n]` of the passage in the text. */
  passage: number;
  /** The nearest sentence of the passage, and its offsets in the text of the chunk. */
  quote: string;
  quote_start?: number;
  quote_end?: number;
  /** Its offsets in the text of the file, in UTF-16 code units; null where they are not known. */
  document_start: number | null;
  document_end: number | null;
  /** The text has no marker: the words of the answer are those of the passage. */
  inferred?: boolean;
}

/** The quote of a citation of a passage in the names of the APIs. */
export function quoteFields(
  { passage, quote, quoteStart, quoteEnd, inferred }: Citation,
  document: RetrievedDocument,
): QuoteFields {
  const start = quoteStart ?? document.text.indexOf(quote);
  const place = start === -1 ? null : placeInFile(document, { start, end: quoteEnd ?? start + quote.length });
  return {
    passage,
    quote,
    ...(quoteStart !== undefined && { quote_start: quoteStart, quote_end: quoteEnd }),
    document_start: place?.start ?? null,
    document_end: place?.end ?? null,
    ...(inferred && { inferred }),
  };
}

/** A piece of a tool call: the first piece of each `index` has id and name, further pieces only add to the input. */
export const toolCallDeltaSchema = z.object({
  /** Index of the call among the calls of its answer, from 0. */
  index: z.int(),
  id: z.string().optional(),
  name: z.string().optional(),
  /** `function`: the input is JSON; `custom`: raw text. */
  kind: z.enum(['function', 'custom']).optional(),
  input: z.string(),
});
export type ToolCallDelta = z.infer<typeof toolCallDeltaSchema>;

/** How certain a quoted answer is: it probably answers, it is the closest passage, or nothing answers. */
const certaintySchema = z.object({
  kind: z.enum(['answer', 'closest', 'none']),
  /** Probability that this is right, 0–1; for `none`, that the documents do not answer. */
  confidence: z.number().min(0).max(1),
});

/** How far the passages support an answer that cites them. */
const supportSchema = z.object({
  /** Statements of the answer, and those of them with a citation. */
  statements: z.int(),
  cited: z.int(),
  /** Numbers of the answer without a passage. They were removed. */
  unknown: z.array(z.int()),
});
export type Support = z.infer<typeof supportSchema>;

/** The share of an answer's statements with a citation, 0 to 1, with two decimals; undefined without a statement. */
export function coverageOf({ statements, cited }: Support): number | undefined {
  return statements === 0 ? undefined : Math.round((cited / statements) * 100) / 100;
}

export const generationChunkSchema = z.object({
  /** Which of the n answers this belongs to. */
  choice: z.int(),
  text: z.string(),
  /** The text is a refusal in place of an answer, by the model or by a guard. */
  refusal: z.boolean().optional(),
  /** The model's reasoning before its answer; not part of `text`. */
  reasoning: z.string().optional(),
  toolCalls: z.array(toolCallDeltaSchema).optional(),
  logprobs: z.array(tokenLogprobSchema).optional(),
  finishReason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']).optional(),
  citations: z.array(citationSchema).optional(),
  /** On the last chunk of an answer that quotes documents. */
  certainty: certaintySchema.optional(),
  /** On the last chunk of an answer that a model wrote from documents. */
  support: supportSchema.optional(),
  /** On the last chunk of the stream only. */
  usage: usageSchema.optional(),
  model: z.string().optional(),
  /** On the first chunk: fields of the request that the engine does not take, so that they have no effect. */
  ignored: z.array(z.string()).optional(),
});
export type GenerationChunk = z.infer<typeof generationChunkSchema>;

/**
 * Fields that only remote engines understand: the user, a key for requests with the same beginning, the length of the
 * answer in words, the class of service.
 */
export const requestLabelsSchema = z.object({
  user: z.string().optional(),
  safety_identifier: z.string().optional(),
  prompt_cache_key: z.string().optional(),
  verbosity: z.string().optional(),
  service_tier: z.string().optional(),
});
export type RequestLabels = z.infer<typeof requestLabelsSchema>;

/**
 * `llm.generate`: a stream of text chunks for a conversation. With `documents` the answer is grounded: the service
 * writes the prompt for its model, checks quotes and resolves `[n]` to the documents.
 * Errors: context_length_exceeded, overloaded, model_not_found.
 */
export const generate = defineMethod({
  service: 'llm',
  method: 'generate',
  request: generationParametersSchema.extend({
    messages: z.array(chatMessageSchema).min(1),
    documents: z.array(retrievedDocumentSchema).optional(),
    neighbours: z
      .array(neighbourSchema)
      .optional()
      .describe('Passages around the documents, which the answer may also rest on'),
    collection: z.string().optional().describe('The collection that was searched for the documents'),
    reads_whole: z
      .enum(['summary', 'comparison'])
      .optional()
      .describe(
        'The documents are all passages of one or two documents, in order, to summarize or to compare',
      ),
    documents_told: z.boolean().optional().describe('The results of tools contain the documents, numbered'),
    model: z.string().optional(),
    tools: z.array(toolSchema).max(512).optional(),
    tool_choice: toolChoiceSchema.optional(),
    parallel_tool_calls: z.boolean().optional().describe('false: at most one call in an answer'),
    labels: requestLabelsSchema.optional(),
    whole: z
      .boolean()
      .optional()
      .describe(
        'The caller does not stream the answer: the service asks an engine again after an answer in another form',
      ),
    chat_template_kwargs: templateVariablesSchema.optional().describe('Variables for the chat template'),
    chat_template: z
      .string()
      .optional()
      .describe('Template of the grounded prompt with {context} and {question}'),
  }),
  reply: generationChunkSchema,
  streaming: true,
});

/** `llm.describe`: the model that the caller means, or the usual one; with `others`, the other models of the instance. */
export const describeLlmModel = describeMethod(
  'llm',
  modelInfoSchema.extend({ others: z.array(modelInfoSchema).optional() }),
);

/** `llm.count_tokens`: the number of prompt tokens of a conversation without documents. */
export const countPromptTokens = defineMethod({
  service: 'llm',
  method: 'count_tokens',
  request: z.object({
    messages: z.array(chatMessageSchema).min(1),
    model: z.string().optional(),
    tools: z.array(toolSchema).max(512).optional(),
  }),
  reply: z.object({
    promptTokens: z.int(),
    /** Maximum tokens of the model, prompt and answer together. */
    maxInputTokens: z.int(),
  }),
});
