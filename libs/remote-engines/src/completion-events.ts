import type { TokenUsage, ToolCallDelta } from '#contracts';
import type { GenerationEvent } from '#generation';
import type { CompletionChoice, CompletionChunk } from './completion-chunk.js';

type WireDelta = NonNullable<CompletionChoice['delta']>;

/**
 * Frames as generation events. The last event waits for the usage, which comes in a frame of its own. An engine that
 * does not tell the usage gets the number of its pieces of text, and what `promptTokens` says.
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
