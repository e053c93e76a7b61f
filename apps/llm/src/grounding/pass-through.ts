import type { GenerationChunk } from '#contracts';
import type { GenerationEvent } from '#generation';

/** An answer that is not checked. */
export async function* passThrough(
  events: AsyncIterable<GenerationEvent>,
): AsyncGenerator<GenerationChunk, void, void> {
  for await (const { tokenIds: _tokenIds, prompt: _prompt, ...chunk } of events) yield chunk;
}
