import type { GenerationChunk } from '#contracts';
import { describe, expect, it } from 'vitest';
import { byWord } from './by-word.js';

async function split(...chunks: GenerationChunk[]): Promise<GenerationChunk[]> {
  async function* source() {
    for (const chunk of chunks) yield await Promise.resolve(chunk);
  }
  const all: GenerationChunk[] = [];
  for await (const chunk of byWord(source())) all.push(chunk);
  return all;
}

describe('byWord', () => {
  it('gives each word a chunk, and the end to the last', async () => {
    expect(await split({ choice: 1, text: 'Tea is\nhot. [1]', finishReason: 'stop' })).toEqual([
      { choice: 1, text: 'Tea' },
      { choice: 1, text: ' is' },
      { choice: 1, text: '\nhot.' },
      { choice: 1, text: ' [1]', finishReason: 'stop' },
    ]);
  });

  it('gives each word of a refusal its mark', async () => {
    const whole: GenerationChunk = { choice: 0, text: 'Not this.', refusal: true };
    expect(await split(whole)).toEqual([
      { choice: 0, text: 'Not', refusal: true },
      { choice: 0, text: ' this.', refusal: true },
    ]);
  });

  it('leaves what has no words or carries logprobs as it is', async () => {
    const chunks: GenerationChunk[] = [
      { choice: 0, text: ' a b', logprobs: [] },
      { choice: 0, text: '  ' },
      { choice: 0, text: '', finishReason: 'length' },
    ];
    expect(await split(...chunks)).toEqual(chunks);
  });
});
