import type { GenerationChunk } from '#contracts';

/**
 * Passes chunks on word by word, so that the grain of a stream does not depend on how many tokens the engine guessed
 * ahead or the check held back. Whatever ends an answer comes with its last word; chunks with logprobs stay whole.
 */
export async function* byWord(
  chunks: AsyncIterable<GenerationChunk>,
): AsyncGenerator<GenerationChunk, void, void> {
  for await (const chunk of chunks) {
    const words = chunk.logprobs ? [chunk.text] : chunk.text.split(/(?<=\S)(?=\s)/);
    const last = words.pop() ?? '';
    const { choice, refusal } = chunk;
    for (const text of words) yield { choice, text, ...(refusal && { refusal }) };
    yield { ...chunk, text: last };
  }
}
