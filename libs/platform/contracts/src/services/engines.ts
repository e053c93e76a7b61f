import { z } from 'zod';
import { defineMethod } from './method.js';

/** Servers of language models, by their APIs. */
export const engineKinds = [
  'vllm',
  'sglang',
  'llama.cpp',
  'ollama',
  'lm-studio',
  'openai',
  'ovms',
  'tgi',
  'tei',
  'other',
] as const;
export const engineKindSchema = z.enum(engineKinds);

/** What a model of an engine does. */
export const engineUses = ['chat', 'vision', 'embeddings', 'rerank', 'speech', 'transcription'] as const;
const useSchema = z.enum(engineUses);
export type EngineUse = z.infer<typeof useSchema>;

/** The policies that choose the engine of a call. */
export const enginePolicySchema = z.enum([
  'round_robin',
  'random',
  'power_of_two',
  'least_load',
  'cache_aware',
  'bucket',
]);
export type EnginePolicy = z.infer<typeof enginePolicySchema>;

const modelName = z.string().min(1).max(200);
const urlText = z
  .url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' })
  .max(2_000)
  .refine((text) => {
    const { search, hash, username, password } = URL.parse(text) ?? {};
    return !search && !hash && !username && !password;
  }, 'must have neither credentials nor a query; the key belongs into api_key');

/** An engine, as an operator names it. */
export const engineSpecSchema = z.strictObject({
  id: z
    .string()
    .regex(/^[\w.:@-]{1,100}$/, 'must have 1 to 100 letters, digits and . : @ _ -')
    .optional()
    .describe('Name in lists and metrics; default: host and port'),
  url: urlText.describe("Base URL of its OpenAI API, with or without /v1: 'http://localhost:11434'"),
  api_key: z.string().min(1).max(4_096).optional().describe('Sent as a bearer token; never listed'),
  kind: engineKindSchema.optional().describe('Default: found by asking the engine'),
  models: z.array(modelName).min(1).max(500).optional().describe('Default: all its models that chat'),
  uses: z
    .array(z.enum(['chat', 'vision']))
    .min(1)
    .max(2)
    .optional()
    .describe('What its models do; default: found by asking. `vision`: they accept images'),
  weight: z
    .number()
    .gt(0)
    .max(1_000)
    .default(1)
    .describe('Its share of the calls in relation to other engines'),
  max_in_flight: z.int().min(1).max(100_000).optional().describe('Maximum number of its running calls'),
  labels: z
    .record(z.string().min(1).max(100), z.string().max(500))
    .refine((labels) => Object.keys(labels).length <= 32, 'must have at most 32 entries')
    .default({})
    .describe('Texts of the operator'),
  first_token_timeout_ms: z
    .int()
    .min(100)
    .max(3_600_000)
    .default(60_000)
    .describe('A call without a first token after this time goes to another engine of the model'),
  disabled: z.boolean().default(false).describe('true: it gets no calls'),
});
export type EngineSpec = z.output<typeof engineSpecSchema>;

/** An engine with a name. */
export type NamedEngine = EngineSpec & { id: string };

/** The id of an engine without one: host and port of its URL, which other URLs of the server share. */
export function engineIdOf({ id, url }: Pick<EngineSpec, 'id' | 'url'>): string {
  if (id !== undefined) return id;
  const { host, pathname } = new URL(url);
  const path = pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
  return `${host}${path}`.replaceAll(/[^\w.:@-]/g, '-').slice(0, 100);
}

/** The settings of a model that engines serve. */
export const engineModelSchema = z.strictObject({
  policy: enginePolicySchema.optional().describe('How the engine of a call is chosen'),
  fallbacks: z
    .array(modelName)
    .max(8)
    .default([])
    .describe('Models that answer in its place, in this order, where its engines fail or it has none'),
  disabled: z.boolean().default(false).describe('true: nobody may use it'),
});
export type EngineModelSettings = z.output<typeof engineModelSchema>;

/** A model of an engine. */
export const engineModelStatusSchema = z.object({
  id: z.string(),
  uses: z.array(useSchema),
  served: z.boolean().describe('Whether chats may name it'),
});

const circuitStates = ['closed', 'open', 'half-open'] as const;

/** An engine and its state, without its key. */
export const engineStatusSchema = z.object({
  id: z.string(),
  url: z.string(),
  source: z.string().describe('`api`, `environment`, or the name of its file'),
  kind: engineKindSchema,
  models: z.array(engineModelStatusSchema),
  weight: z.number(),
  max_in_flight: z.int().nullable(),
  labels: z.record(z.string(), z.string()),
  disabled: z.boolean(),
  has_key: z.boolean(),
  healthy: z.boolean().describe('Whether its last answer, or the last check, was good'),
  state: z
    .enum(circuitStates)
    .describe(
      'Of its circuit breaker: closed (it gets calls), open (calls avoid it), half-open (one call tries it)',
    ),
  problem: z.string().nullable().describe('The last failure; null after a success'),
  in_flight: z.int(),
  requests: z.int(),
  failures: z.int(),
  openings: z.int().describe('How often its circuit breaker has opened'),
});
export type EngineStatus = z.infer<typeof engineStatusSchema>;

/** `llm.engines`: the engines of one instance, and the problems of the files that name them. */
export const listEngines = defineMethod({
  service: 'llm',
  method: 'engines',
  request: z.object({}),
  reply: z.object({ engines: z.array(engineStatusSchema), problems: z.array(z.string()) }),
});

/** `llm.find-engine`: asks an engine for its kind and models. Errors: unreachable_url, forbidden_url. */
export const findEngine = defineMethod({
  service: 'llm',
  method: 'find-engine',
  request: engineSpecSchema,
  reply: z.object({ kind: engineKindSchema, models: z.array(engineModelStatusSchema) }),
});

/** `llm.local-engines`: the engines with a model that chats at the usual ports of its machine. */
export const localEngines = defineMethod({
  service: 'llm',
  method: 'local-engines',
  request: z.object({}),
  reply: z.object({
    engines: z.array(
      z.object({ url: z.string(), kind: engineKindSchema, models: z.array(z.string()), added: z.boolean() }),
    ),
  }),
});

/** `llm.reload-engines`: reads the stored engines again. Errors: service_unavailable. */
export const reloadEngines = defineMethod({
  service: 'llm',
  method: 'reload-engines',
  request: z.object({}),
  reply: z.object({}),
});

/** `gateway.engines`: the engines that the API added, with their keys; only for the LLM service. */
export const storedEngines = defineMethod({
  service: 'gateway',
  method: 'engines',
  request: z.object({}),
  reply: z.object({ engines: z.array(engineSpecSchema.extend({ id: z.string() })) }),
});
