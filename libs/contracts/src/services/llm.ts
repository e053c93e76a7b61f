import { z } from 'zod';
import { fileReferenceSchema } from './dataprep.js';
import { retrievedDocumentSchema } from '../documents.js';
import { defineMethod, describeMethod, modelInfoSchema } from './method.js';
import { templateVariablesSchema } from '../template-variables.js';

/** A call of a tool, complete: `input` is JSON for a function, raw text for a custom tool. */
export const toolCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  input: z.string(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

/** Most images of one request, those said earlier in its conversation included. */
export const maxImages = 32;

/** An image that a user, or the result of a tool, shows. */
const chatImageSchema = z.object({
  /** A data URL, or the address of the image: what the gateway was sent. */
  url: z.string().optional(),
  /** The image in the object store, in place of the `url`: what the language model is sent. */
  file: fileReferenceSchema.optional(),
  /** How closely the model is to look: `auto`, `low`, `high`. */
  detail: z.string().optional(),
  /** Where it stands in the caller's request, for errors. */
  param: z.string().optional(),
  /** Characters of the turn's `content` before it; behind all of them where absent. */
  at: z.int().min(0).optional(),
});

/** A turn of the conversation, its content reduced to text, and images beside it. */
export const chatMessageSchema = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.string(),
  /** Of the user, or of a tool's result, for models that take them. */
  images: z.array(chatImageSchema).max(maxImages).optional(),
  name: z.string().optional(),
  /** Of the assistant: what it called in this turn. */
  toolCalls: z.array(toolCallSchema).optional(),
  /** Of a tool: the call that this is the result of. */
  toolCallId: z.string().optional(),
  /** Of the assistant: what it thought before it said `content`. */
  reasoning: z.string().optional(),
});
export type ChatMessage = z.infer<typeof chatMessageSchema>;

const jsonSchema = z.union([z.boolean(), z.record(z.string(), z.unknown())]);

/** A tool that the model may call. */
export const toolSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('function'),
    name: z.string().min(1).max(128),
    description: z.string().optional(),
    /** JSON Schema of the arguments; any object where absent. */
    parameters: z.record(z.string(), z.unknown()).optional(),
    /** The arguments are held to the schema while they are written. */
    strict: z.boolean().optional(),
  }),
  z.object({
    type: z.literal('custom'),
    name: z.string().min(1).max(128),
    description: z.string().optional(),
    /** What the raw input is held to; any text where absent. */
    grammar: z.object({ syntax: z.enum(['lark', 'regex']), definition: z.string() }).optional(),
  }),
]);
export type Tool = z.infer<typeof toolSchema>;

/** `required`: at least one call. `names` narrows the tools that may be called. */
export const toolChoiceSchema = z.object({
  mode: z.enum(['auto', 'none', 'required']),
  names: z.array(z.string()).min(1).optional(),
});
export type ToolChoice = z.infer<typeof toolChoiceSchema>;

const tagBorders = { begin: z.string().min(1), end: z.string() };

/** What an answer's text is held to while it is written: whatever comes out whole satisfies it. */
export const outputConstraintSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('json_object') }),
  z.object({ type: z.literal('json_schema'), schema: jsonSchema }),
  z.object({ type: z.literal('regex'), pattern: z.string().min(1) }),
  z.object({ type: z.literal('choice'), choices: z.array(z.string().min(1)).min(1) }),
  /** A grammar in GBNF, an EBNF, with a rule `root`. */
  z.object({ type: z.literal('grammar'), grammar: z.string().min(1) }),
  /** Free text in which each `trigger` begins one of the `tags`; between `begin` and `end` stands what the schema takes. */
  z.object({
    type: z.literal('structural_tag'),
    triggers: z.array(z.string().min(1)).min(1),
    tags: z
      .array(
        z.union([
          z.object({ ...tagBorders, schema: jsonSchema }),
          /** Between them stands a text of the Lark grammar: as in the quotes of a JSON string, unless it is `raw`. */
          z.object({ ...tagBorders, lark: z.string().min(1), raw: z.boolean().optional() }),
          /** Between them stand parameters in tags, as Qwen3-Coder writes them, of an object that the schema takes. */
          z.object({ ...tagBorders, parameters: z.record(z.string(), z.unknown()) }),
        ]),
      )
      .min(1),
    /** The answer begins with a tag, and ends behind the last one. */
    required: z.boolean().optional(),
    /** At most one tag. */
    single: z.boolean().optional(),
  }),
]);
export type OutputConstraint = z.infer<typeof outputConstraintSchema>;

/** The parameters that choose among tokens; chat, summaries and FAQs take each of them, and quoted answers name each as ignored. */
export const samplingShape = {
  temperature: z.number().min(0).max(2).optional().describe('0 is greedy'),
  top_p: z.number().gt(0).max(1).optional().describe('Nucleus sampling'),
  top_k: z.int().min(0).optional().describe('Sample among the k likeliest tokens; 0: all'),
  min_p: z.number().min(0).max(1).optional().describe('Drop tokens below this share of the likeliest one'),
  frequency_penalty: z.number().min(-2).max(2).optional(),
  presence_penalty: z.number().min(-2).max(2).optional(),
  repetition_penalty: z.number().gt(0).max(10).optional(),
  seed: z.int().optional().describe('The same seed gives the same tokens'),
};

/** Sampling and length, in OpenAI's names plus the usual extensions of vLLM and OPEA. */
export const generationParametersSchema = z.object({
  max_tokens: z.int().min(1).optional().describe('Most tokens to generate'),
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
      'Answers written, of which the n with the highest mean log probability come back; not streamed',
    ),
  constraint: outputConstraintSchema.optional().describe('What the text of the answer is held to'),
  num_assistant_tokens: z
    .int()
    .min(0)
    .max(15)
    .optional()
    .describe('Tokens guessed ahead from the prompt and checked in one pass; pays where answers quote'),
  max_ngram_size: z.int().min(1).max(8).optional().describe('Longest run of tokens looked up for a guess'),
});
export type GenerationParameters = z.infer<typeof generationParametersSchema>;

/** Parameters that choose among tokens, or make their choice faster: without effect where sentences are quoted. */
const withoutEffectOnQuotes = [
  ...(Object.keys(samplingShape) as (keyof typeof samplingShape)[]),
  'logit_bias',
  'ignore_eos',
  'num_assistant_tokens',
  'max_ngram_size',
] as const;

/** Those of a request's parameters that have no effect where an answer is quoted and not sampled. */
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
  /** Of the completion tokens: those that the model thought with. */
  reasoningTokens: z.int().optional(),
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

/** A piece of a tool call: the first one of each `index` carries id and name, further ones only add to the input. */
export const toolCallDeltaSchema = z.object({
  /** Place of the call among those of its answer, from 0. */
  index: z.int(),
  id: z.string().optional(),
  name: z.string().optional(),
  /** `function`: the input is JSON; `custom`: raw text. */
  kind: z.enum(['function', 'custom']).optional(),
  input: z.string(),
});
export type ToolCallDelta = z.infer<typeof toolCallDeltaSchema>;

export const generationChunkSchema = z.object({
  /** Which of the n answers this belongs to. */
  choice: z.int(),
  text: z.string(),
  /** The text is said in the place of an answer: the model, or a guard, refuses to give one. */
  refusal: z.boolean().optional(),
  /** What the model thinks before it answers; no part of `text`. */
  reasoning: z.string().optional(),
  toolCalls: z.array(toolCallDeltaSchema).optional(),
  logprobs: z.array(tokenLogprobSchema).optional(),
  finishReason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']).optional(),
  citations: z.array(citationSchema).optional(),
  /** On the last chunk of the stream only. */
  usage: usageSchema.optional(),
  model: z.string().optional(),
});
export type GenerationChunk = z.infer<typeof generationChunkSchema>;

/** Who asks, and which requests begin alike: for engines elsewhere that keep accounts, or caches by key. */
const requestLabelsSchema = z.object({
  user: z.string().optional(),
  safety_identifier: z.string().optional(),
  prompt_cache_key: z.string().optional(),
});
export type RequestLabels = z.infer<typeof requestLabelsSchema>;

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
    documents_told: z.boolean().optional().describe('The results of tools hold the documents, numbered'),
    model: z.string().optional(),
    tools: z.array(toolSchema).max(512).optional(),
    tool_choice: toolChoiceSchema.optional(),
    parallel_tool_calls: z.boolean().optional().describe('false: at most one call in an answer'),
    labels: requestLabelsSchema.optional(),
    whole: z
      .boolean()
      .optional()
      .describe('The answer is not streamed on: one that an engine gives in another form is asked for again'),
    chat_template_kwargs: templateVariablesSchema.optional().describe('Variables for the chat template'),
    chat_template: z
      .string()
      .optional()
      .describe('Template of the grounded prompt with {context} and {question}'),
  }),
  reply: generationChunkSchema,
  streaming: true,
});

export const describeLlmModel = describeMethod('llm', modelInfoSchema);

/** `llm.count_tokens`: how long the prompt is that a conversation without documents becomes. */
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
    /** Most tokens that the model takes, prompt and answer together. */
    maxInputTokens: z.int(),
  }),
});
