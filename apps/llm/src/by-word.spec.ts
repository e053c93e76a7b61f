import type { GenerationChunk } from '#contracts';
import { describe, expect, it } from 'vitest';
import { byWord } from './by-word.js';

const split = (...chunks: GenerationChunk[]): GenerationChunk[] => chunks.flatMap(byWord);

describe('byWord', () => {
  it('gives each word a chunk, and the end to the last', () => {
    expect(split({ choice: 1, text: 'Tea is\nhot. [1]', finishReason: 'stop' })).toEqual([
      { choice: 1, text: 'Tea' },
      { choice: 1, text: ' is' },
      { choice: 1, text: '\nhot.' },
      { choice: 1, text: ' [1]', finishReason: 'stop' },
    ]);
  });

  it('gives each word of a refusal its mark', () => {
    const whole: GenerationChunk = { choice: 0, text: 'Not this.', refusal: true };
    expect(split(whole)).toEqual([
      { choice: 0, text: 'Not', refusal: true },
      { choice: 0, text: ' this.', refusal: true },
    ]);
  });

  it('leaves what has no words or carries logprobs as it is', () => {
    const chunks: GenerationChunk[] = [
      { choice: 0, text: ' a b', logprobs: [] },
      { choice: 0, text: '  ' },
      { choice: 0, text: '', finishReason: 'length' },
    ];
    expect(split(...chunks)).toEqual(chunks);
  });
});
