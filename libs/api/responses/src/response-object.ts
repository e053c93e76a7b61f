import { randomBytes } from 'node:crypto';
import type { TokenUsage, OutputConstraint } from '#platform/contracts';
import { z } from 'zod';
import type { OutputItem } from './items/output-items.js';

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

export interface ResponseUsage {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number; cache_write_tokens: number };
  output_tokens: number;
  output_tokens_details: { reasoning_tokens: number };
  total_tokens: number;
}

interface FunctionTool {
  type: 'function';
  name: string;
  description: string | null;
  parameters: Record<string, unknown> | null;
  strict: boolean | null;
}
/** A tool as the response repeats it; types other than function are repeated unchanged. */
export type ResponseTool = FunctionTool | { type: string; [field: string]: unknown };
export type ResponseToolChoice = 'none' | 'auto' | 'required' | { type: string; [field: string]: unknown };

/** The fields of a response that the request sets; they do not change after creation. */
export interface ResponseSettings {
  previous_response_id: string | null;
  conversation: { id: string } | null;
  instructions: string | null;
  tools: ResponseTool[];
  tool_choice: ResponseToolChoice;
  parallel_tool_calls: boolean;
  max_tool_calls: number | null;
  max_output_tokens: number | null;
  truncation: 'auto' | 'disabled';
  text: { format: TextFormat; verbosity?: 'low' | 'medium' | 'high' };
  reasoning: { effort: string | null; summary: string | null };
  temperature: number;
  top_p: number;
  presence_penalty: number;
  frequency_penalty: number;
  top_logprobs: number;
  store: boolean;
  background: boolean;
  service_tier: string;
  metadata: Record<string, string>;
  safety_identifier: string | null;
  prompt_cache_key: string | null;
  user?: string;
}

/** OpenAI's response object; every field is present in every snapshot. Times are unix seconds. */
export interface ResponseObject extends ResponseSettings {
  id: string;
  object: 'response';
  created_at: number;
  completed_at: number | null;
  status: ResponseStatus;
  error: { code: string; message: string } | null;
  incomplete_details: { reason: 'max_output_tokens' | 'content_filter' } | null;
  model: string;
  output: OutputItem[];
  /** The text of all messages, joined. */
  output_text: string;
  /** The usage that the engine has reported; zeros before its report, because not all official documents allow null. */
  usage: ResponseUsage;
}

export interface NewResponse {
  id: string;
  /** Unix seconds. */
  createdAt: number;
  model: string;
  settings: ResponseSettings;
  /** `queued` for background ones. */
  status: 'queued' | 'in_progress';
}

/** A new response without output. */
export function newResponse({ id, createdAt, model, settings, status }: NewResponse): ResponseObject {
  return {
    id,
    object: 'response',
    created_at: createdAt,
    completed_at: null,
    status,
    error: null,
    incomplete_details: null,
    model,
    output: [],
    output_text: '',
    usage: responseUsage({ promptTokens: 0, completionTokens: 0, cachedTokens: 0 }),
    ...settings,
  };
}

/** OpenAI's usage. Writes to the engine's prefix cache are free, so the written tokens are 0. */
export function responseUsage({
  promptTokens,
  completionTokens,
  cachedTokens,
  reasoningTokens,
}: TokenUsage): ResponseUsage {
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
    total_tokens: promptTokens + completionTokens,
  };
}

/** True if the response has ended. */
export function isFinished({ status }: Pick<ResponseObject, 'status'>): boolean {
  return status !== 'queued' && status !== 'in_progress';
}

const jsonSchema = z.union([z.boolean(), z.record(z.string(), z.unknown())]);

/** `text.format` of a request. */
export const textFormatSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    name: z.string().min(1).max(64),
    schema: jsonSchema,
    description: z.string().nullish(),
    strict: z.boolean().nullish(),
  }),
]);

/** `text.format` in a response. */
type TextFormat =
  | { type: 'text' }
  | { type: 'json_object' }
  | {
      type: 'json_schema';
      name: string;
      /** Empty if unset: one official document requires a string, the other requires the field. */
      description: string;
      schema: boolean | Record<string, unknown>;
      strict: boolean;
    };

export function echoedFormat(format: z.output<typeof textFormatSchema> | undefined): TextFormat {
  if (format?.type !== 'json_schema') return { type: format?.type ?? 'text' };
  const { type, name, schema, description, strict } = format;
  return { type, name, description: description ?? '', schema, strict: strict ?? false };
}

/** The constraint on an answer of the format; a schema is enforced even if it is not strict. */
export function formatConstraint(format: TextFormat): OutputConstraint | undefined {
  if (format.type === 'text') return undefined;
  if (format.type === 'json_object') return { type: 'json_object', at: 'text.format' };
  return { type: 'json_schema', schema: format.schema, at: 'text.format.schema' };
}

/** Prefixes of OpenAI's ids by type; other types of items get `item`. */
const itemPrefixes: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  local_shell_call: 'lsh',
  file_search_call: 'fs',
  web_search_call: 'ws',
  mcp_call: 'mcp',
  mcp_list_tools: 'mcpl',
  mcp_approval_request: 'mcpr',
  mcp_approval_response: 'mcpa',
  compaction: 'cmp',
};

/** Returns a new id: a prefix and 192 random bits, `resp_3f…`. */
export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(24).toString('hex')}`;
}

/** Returns a new id for an item of a type: `msg_…` for a message. */
export function newItemId(type: string): string {
  return newId(itemPrefixes[type] ?? 'item');
}
