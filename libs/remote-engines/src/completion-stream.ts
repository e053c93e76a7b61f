import { tokenLogprobSchema, type MegaNestError, type TokenUsage, type ToolCallDelta } from '#contracts';
import type { GenerationEvent } from '#generation';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { Response } from 'undici';
import { z } from 'zod';
import { overflowError, readRefusal, type RemoteServer } from './remote-server.js';

/**
 * Yields the frames of an OpenAI-compatible stream up to `[DONE]`. Errors: bad_upstream for an error in the stream, an
 * unreadable frame, or a stream that ends without `[DONE]`; service_unavailable when the connection breaks.
 */
export async function* readCompletionStream(
  response: Response,
  server: RemoteServer,
  signal: AbortSignal,
): AsyncGenerator<CompletionChunk, void, void> {
  if (!response.body) throw server.unexpected('its engine sent no body');
  const events = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  try {
    for await (const { data } of events) {
      if (data === '[DONE]') return;
      const chunk = server.validate(data, completionChunkSchema);
      if (chunk.error !== undefined && chunk.error !== null) throw failureIn(data, server);
      yield chunk;
    }
  } catch (error) {
    throw server.networkError(error, signal);
  }
  throw server.unexpected('its engine ended the stream early');
}

function failureIn(data: string, server: RemoteServer): MegaNestError {
  const refusal = readRefusal(data);
  return overflowError(refusal, 'llm') ?? server.unexpected(`its engine failed: ${refusal.message}`);
}

type WireDelta = NonNullable<CompletionChoice['delta']>;

/**
 * Converts frames to generation events. The last event waits for the usage, which has a frame of its own. If an engine
 * does not report the usage, it is estimated from the number of text pieces and from `promptTokens`.
 */
export async function* completionEvents(
  chunks: AsyncIterable<CompletionChunk>,
  choices: number,
  promptTokens: () => Promise<number>,
): AsyncGenerator<GenerationEvent, void, void> {
  const open = new Set(Array.from({ length: choices }, (_unused, choice) => choice));
  let pieces = 0;
  let usage: TokenUsage | undefined;
  let last: GenerationEvent | undefined;
  for await (const chunk of chunks) {
    usage = usageOf(chunk) ?? usage;
    for (const choice of chunk.choices) {
      if (!open.has(choice.index)) continue;
      const event = eventOf(choice);
      if (event.text !== '') pieces += 1;
      if (event.finishReason) open.delete(event.choice);
      if (open.size === 0) last = event;
      else if (saysSomething(event)) yield event;
    }
  }
  for (const choice of open) {
    if (last) yield last;
    last = { choice, text: '', tokenIds: [], finishReason: 'stop' };
  }
  usage ??= { promptTokens: await promptTokens(), completionTokens: pieces, cachedTokens: 0 };
  if (last) yield { ...last, usage };
}

function saysSomething({ text, reasoning, toolCalls, finishReason }: GenerationEvent): boolean {
  return text !== '' || reasoning !== undefined || toolCalls !== undefined || finishReason !== undefined;
}

function eventOf({ index, delta, text, logprobs, finish_reason }: CompletionChoice): GenerationEvent {
  const reasoning = delta?.reasoning_content ?? delta?.reasoning;
  return {
    choice: index,
    text: delta?.refusal || (delta?.content ?? text ?? ''),
    tokenIds: [],
    ...(delta?.refusal && { refusal: true }),
    ...(logprobs?.content && { logprobs: logprobs.content }),
    ...(reasoning && { reasoning }),
    ...(delta?.tool_calls?.length && { toolCalls: delta.tool_calls.map(callDelta) }),
    ...(finish_reason && { finishReason: finishReasons[finish_reason] ?? 'stop' }),
  };
}

const finishReasons: Readonly<Record<string, GenerationEvent['finishReason']>> = {
  length: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
};

function callDelta({
  index,
  id,
  function: piece,
}: NonNullable<WireDelta['tool_calls']>[number]): ToolCallDelta {
  return {
    index,
    ...(id && { id }),
    ...(piece?.name && { name: piece.name }),
    input: piece?.arguments ?? '',
  };
}

function usageOf({ usage }: CompletionChunk): TokenUsage | undefined {
  if (!usage) return undefined;
  const reasoningTokens = usage.completion_tokens_details?.reasoning_tokens;
  return {
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    ...(reasoningTokens && { reasoningTokens }),
  };
}

const logprob = tokenLogprobSchema.extend({
  bytes: z
    .array(z.int())
    .nullish()
    .transform((bytes) => bytes ?? null),
  top_logprobs: tokenLogprobSchema.shape.top_logprobs.catch([]),
});

const toolCall = z.looseObject({
  index: z.int().default(0),
  id: z.string().nullish(),
  function: z
    .looseObject({
      name: z.string().nullish(),
      /** JSON text; some engines send the object itself. */
      arguments: z
        .union([z.string(), z.record(z.string(), z.unknown()).transform((given) => JSON.stringify(given))])
        .nullish(),
    })
    .nullish(),
});

const choice = z.looseObject({
  index: z.int().default(0),
  /** Only in chat completions. */
  delta: z
    .looseObject({
      content: z.string().nullish(),
      refusal: z.string().nullish().catch(null),
      /** The name in vLLM, SGLang and DeepSeek; newer vLLM, Ollama and OpenRouter use `reasoning`. */
      reasoning_content: z.string().nullish(),
      reasoning: z.string().nullish().catch(null),
      tool_calls: z.array(toolCall).nullish(),
    })
    .nullish(),
  /** Only in plain completions. */
  text: z.string().nullish(),
  logprobs: z.looseObject({ content: z.array(logprob).nullish().catch(null) }).nullish(),
  finish_reason: z.string().nullish(),
});
type CompletionChoice = z.output<typeof choice>;

/** A frame of an OpenAI-compatible stream; tolerant, because engines differ in the details. */
const completionChunkSchema = z.looseObject({
  choices: z.array(choice).default([]),
  usage: z
    .looseObject({
      prompt_tokens: z.int(),
      completion_tokens: z.int().default(0),
      completion_tokens_details: z.looseObject({ reasoning_tokens: z.int().nullish() }).nullish(),
      prompt_tokens_details: z.looseObject({ cached_tokens: z.int().nullish() }).nullish(),
    })
    .nullish(),
  error: z.unknown().optional(),
});
type CompletionChunk = z.output<typeof completionChunkSchema>;
