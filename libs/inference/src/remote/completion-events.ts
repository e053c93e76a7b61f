import type { TokenUsage } from '#contracts';
import type { GenerationEvent } from '../generator/generator-interface.js';
import type { CompletionChoice, CompletionChunk } from './completion-chunk.js';

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
      else if (event.text !== '' || event.finishReason) yield event;
    }
  }
  for (const choice of open) {
    if (last) yield last;
    last = { choice, text: '', tokenIds: [], finishReason: 'stop' };
  }
  usage ??= { promptTokens: await promptTokens(), completionTokens: pieces, cachedTokens: 0 };
  if (last) yield { ...last, usage };
}

function eventOf({ index, delta, text, logprobs, finish_reason }: CompletionChoice): GenerationEvent {
  return {
    choice: index,
    text: delta?.content ?? text ?? '',
    tokenIds: [],
    ...(logprobs?.content && { logprobs: logprobs.content }),
    ...(finish_reason && { finishReason: finish_reason === 'length' ? 'length' : 'stop' }),
  };
}

function usageOf({ usage }: CompletionChunk): TokenUsage | undefined {
  if (!usage) return undefined;
  return {
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
  };
}
