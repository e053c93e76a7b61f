import {
  generationParametersSchema,
  MegaNestError,
  type ChatMessage,
  type GenerationParameters,
} from '#contracts';
import { z } from 'zod';
import { messagesSchema, toChatMessages } from './chat-messages.js';

const nullable = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

/** OpenAI's clients send null for "not set". */
const parameterShape = Object.fromEntries(
  Object.entries(generationParametersSchema.shape).map(([name, schema]) => [
    name,
    nullable(schema as z.ZodType),
  ]),
);

const bodySchema = z.looseObject({
  ...parameterShape,
  messages: messagesSchema.optional(),
  /** The OPEA specification's name of the field. */
  message: messagesSchema.optional(),
  model: z.string().optional(),
  max_completion_tokens: nullable(z.int().min(1)),
  stream: nullable(z.boolean()),
  stream_options: nullable(z.looseObject({ include_usage: nullable(z.boolean()) })),
});

export interface ChatCompletionRequest {
  messages: ChatMessage[];
  model?: string;
  parameters: GenerationParameters;
  /** Absent when the caller did not say. */
  stream?: boolean;
  includeUsage: boolean;
  /** Fields beyond the chat completions API, e.g. OPEA's retrieval parameters. */
  extra: Record<string, unknown>;
}

/** Parses the body of `POST /v1/chat/completions`. Errors: 400 with the field's path. */
export const chatCompletionRequestSchema = bodySchema.transform((body, context): ChatCompletionRequest => {
  const messages = body.messages ?? body.message;
  if (!messages) {
    context.addIssue({ code: 'custom', path: ['messages'], message: 'is required' });
    return z.NEVER;
  }
  return {
    messages: toChatMessages(messages, body.messages ? 'messages' : 'message'),
    model: body.model,
    parameters: generationParameters(body),
    stream: body.stream,
    includeUsage: body.stream_options?.include_usage ?? false,
    extra: extraFields(body),
  };
});

const ownFields = new Set(Object.keys(bodySchema.shape));
/** Splits what the caller sent beyond the known fields: refused, or named as ignored. Errors: unsupported_parameter. */
export function ignoredFields(
  extra: Record<string, unknown>,
  used: ReadonlySet<string> = new Set(),
): string[] {
  const unused = Object.keys(extra).filter((name) => !used.has(name));
  for (const name of unused) assertIgnorable(name, extra[name]);
  return unused;
}

/** Whatever changes what the answer means must not be dropped silently. */
function assertIgnorable(name: string, value: unknown): void {
  if (!refusedFields.has(name) || isNeutral(name, value)) return;
  const detail = `${name} is not supported by this model`;
  throw new MegaNestError('unsupported_parameter', { detail, param: name });
}

const refusedFields = new Set([
  'tools',
  'functions',
  'tool_choice',
  'function_call',
  'response_format',
  'modalities',
  'audio',
  'prediction',
  'web_search_options',
  'best_of',
]);

function isNeutral(name: string, value: unknown): boolean {
  if (value === null || (Array.isArray(value) && value.length === 0)) return true;
  if (name === 'tool_choice' || name === 'function_call') return value === 'none' || value === 'auto';
  if (name === 'response_format') return (value as { type?: unknown }).type === 'text';
  return name === 'modalities' && JSON.stringify(value) === '["text"]';
}

function generationParameters(body: z.output<typeof bodySchema>): GenerationParameters {
  const named = body as Record<string, unknown>;
  const parameters = Object.fromEntries(
    Object.keys(generationParametersSchema.shape)
      .filter((name) => named[name] !== undefined)
      .map((name) => [name, named[name]]),
  ) as GenerationParameters;
  const maxTokens = body.max_completion_tokens ?? parameters.max_tokens;
  return { ...parameters, ...(maxTokens !== undefined && { max_tokens: maxTokens }) };
}

function extraFields(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => !ownFields.has(name) && value !== undefined),
  );
}
