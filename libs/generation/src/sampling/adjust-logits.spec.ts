import { describe, expect, it } from 'vitest';
import { adjustLogits } from './adjust-logits.js';
import { samplingSettings } from './sampling-settings.js';

function adjusted(logits: number[], parameters: object, generated: [number, number][], prompt: number[]) {
  const values = Float32Array.from(logits);
  const settings = samplingSettings(parameters, { temperature: 0 });
  adjustLogits(values, settings, { generated: new Map(generated), prompt: new Set(prompt) });
  return [...values];
}

describe('adjustLogits', () => {
  it('subtracts the frequency penalty per occurrence and the presence penalty once, in the answer only', () => {
    const parameters = { frequency_penalty: 0.5, presence_penalty: 1 };
    expect(adjusted([4, 4, 4], parameters, [[1, 3]], [2])).toEqual([4, 1.5, 4]);
  });

  it('divides positive and multiplies negative logits by the repetition penalty, prompt included', () => {
    expect(adjusted([4, 4, -4], { repetition_penalty: 2 }, [[1, 1]], [2])).toEqual([4, 2, -8]);
  });

  it('adds the bias of a token', () => {
    expect(adjusted([1, 1], { logit_bias: { 1: -100 } }, [], [])).toEqual([1, -99]);
  });
});
