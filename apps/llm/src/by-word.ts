import type { GenerationChunk } from '#contracts';

/**
 * A chunk word by word, so that the grain of a stream does not depend on how many tokens the engine guessed
 * ahead or the check held back. Whatever ends an answer comes with its last word; chunks with logprobs stay whole.
 */
export function byWord(chunk: GenerationChunk): GenerationChunk[] {
  const words = chunk.logprobs ? [chunk.text] : chunk.text.split(/(?<=\S)(?=\s)/);
  const last = words.pop() ?? '';
  const { choice, refusal } = chunk;
  const before = words.map((text) => ({ choice, text, ...(refusal && { refusal }) }));
  return [...before, { ...chunk, text: last }];
}
