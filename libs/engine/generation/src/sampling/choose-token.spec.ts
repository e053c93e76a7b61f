import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { createRandom } from '#engine/models';
import { adjustLogits, samplingSettings, chooseToken, type SamplingSettings } from './choose-token.js';

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
    const twice: [number, number][] = [
      [1, 1],
      [2, 1],
    ];
    expect(adjusted([4, 4, -4], { repetition_penalty: 2 }, twice, [2])).toEqual([4, 2, -8]);
  });

  it('adds the bias of a token', () => {
    expect(adjusted([1, 1], { logit_bias: { 1: -100 } }, [], [])).toEqual([1, -99]);
  });
});

const settings = (parameters = {}): SamplingSettings => samplingSettings(parameters, { temperature: 1 });
const logitsOf = (probabilities: number[]) => Float32Array.from(probabilities, Math.log);

function frequencies(probabilities: number[], parameters = {}, draws = 4000): number[] {
  const counts = probabilities.map(() => 0);
  const random = createRandom(1);
  for (let draw = 0; draw < draws; draw++) {
    counts[chooseToken(logitsOf(probabilities), settings(parameters), random)]!++;
  }
  return counts.map((count) => count / draws);
}

describe('chooseToken', () => {
  it('draws by probability', () => {
    const [a, b, c] = frequencies([0.5, 0.3, 0.2]);
    // Three standard deviations of 4,000 draws are 0.024.
    expect(a).toBeCloseTo(0.5, 1);
    expect(b).toBeCloseTo(0.3, 1);
    expect(c).toBeCloseTo(0.2, 1);
  });

  it('keeps the k likeliest', () => {
    expect(frequencies([0.1, 0.5, 0.4], { top_k: 2 })[0]).toBe(0);
    expect(frequencies([0.1, 0.5, 0.4], { top_k: 1 })).toEqual([0, 1, 0]);
    for (const top_k of [0, -1]) expect(frequencies([0.1, 0.5, 0.4], { top_k })[0]).toBeGreaterThan(0);
  });

  it('keeps the smallest set that reaches top_p', () => {
    const [a, b, c] = frequencies([0.6, 0.3, 0.1], { top_p: 0.7 });
    expect(c).toBe(0);
    expect(a! / b!).toBeCloseTo(2, 0);
    expect(frequencies([0.6, 0.3, 0.1], { top_p: 0.6 })).toEqual([1, 0, 0]);
    expect(frequencies([0.3, 0.6, 0.1], { top_p: 0 })).toEqual([0, 1, 0]);
  });

  it('drops what is below min_p of the likeliest', () => {
    expect(frequencies([0.6, 0.3, 0.1], { min_p: 0.4 })[2]).toBe(0);
  });

  it('is sharper below temperature 1 and greedy at 0', () => {
    expect(frequencies([0.6, 0.4], { temperature: 0.2 })[0]).toBeGreaterThan(0.85);
    expect(frequencies([0.4, 0.6], { temperature: 0 })).toEqual([0, 1]);
  });

  it('keeps the k likeliest of many, for a k above 256 too', () => {
    const logits = Float32Array.from({ length: 2000 }, (_unused, id) => (id * 617) % 2000);
    for (const top_k of [250, 300]) {
      const drawn = new Set<number>();
      for (let draw = 0; draw < 4000; draw++)
        drawn.add(chooseToken(logits, settings({ top_k, temperature: 1000 }), () => draw / 4000));
      expect([...drawn].map((id) => logits[id]!).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: top_k }, (_unused, index) => 2000 - top_k + index),
      );
    }
  });

  it.each([Number.NaN, Infinity, -Infinity])('says that logits of %s are not finite', (logit) => {
    const broken = new Float32Array(3).fill(logit);
    for (const parameters of [{}, { top_k: 2 }, { top_p: 0.5 }])
      expect(() => chooseToken(broken, settings(parameters), () => 0)).toThrow('not finite numbers');
  });

  it('draws a token of the vocabulary that its limits allow, for any logits', () => {
    const logit = fc.double({ min: -50, max: 50, noNaN: true });
    const parameters = fc.record(
      {
        temperature: fc.double({ min: 0.01, max: 2, noNaN: true }),
        top_p: fc.double({ min: 0.01, max: 1, noNaN: true }),
        top_k: fc.integer({ min: 0, max: 10 }),
        min_p: fc.double({ min: 0, max: 1, noNaN: true }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(logit, { minLength: 1 }), parameters, fc.integer(), (values, chosen, seed) => {
        const logits = Float32Array.from(values);
        const token = chooseToken(logits, settings(chosen), createRandom(seed));
        expect(Number.isInteger(token) && token >= 0 && token < logits.length).toBe(true);
        // Logits closer than this have the same weight.
        const likelier = logits.filter((value) => value > logits[token]! + 1e-6).length;
        expect(likelier).toBeLessThan(chosen.top_k || logits.length);
      }),
    );
  });
});

/** The probability of each token, by sorting all of them. */
function probabilities(logits: Float32Array, { temperature, minP, topK, topP }: SamplingSettings): number[] {
  const largest = Math.max(...logits);
  const tokens = Array.from(logits, (logit, id) => ({
    id,
    weight: Math.exp((logit - largest) / temperature),
  }))
    .filter(({ weight }) => weight >= minP)
    .toSorted((left, right) => right.weight - left.weight || left.id - right.id)
    .slice(0, topK || undefined);
  const sum = (kept: typeof tokens) => kept.reduce((total, { weight }) => total + weight, 0);
  const wanted = topP * sum(tokens);
  const count = tokens.findIndex((_token, index) => sum(tokens.slice(0, index + 1)) >= wanted) + 1;
  const kept = tokens.slice(0, count || undefined);
  return Array.from(logits, (_logit, id) => (kept.find((token) => token.id === id)?.weight ?? 0) / sum(kept));
}

describe('chooseToken, compared with sorting all tokens', () => {
  const parameters = fc.record(
    {
      temperature: fc.constantFrom(0.3, 1, 1.7),
      top_p: fc.constantFrom(0.01, 0.35, 0.82, 0.99, 1),
      top_k: fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 257, max: 300 })),
      min_p: fc.constantFrom(0, 0.013, 1),
    },
    { requiredKeys: [] },
  );
  const someEqual = fc.array(fc.constantFrom(-3, -1.5, 0, 0.25, 2), { minLength: 1, maxLength: 320 });
  const mostDifferent = fc
    .array(fc.integer({ min: -2000, max: 2000 }), { minLength: 1, maxLength: 320 })
    .map((values) => values.map((value) => value / 100));

  it('gives each token its share of the random numbers', () => {
    const draws = 500;
    fc.assert(
      fc.property(fc.oneof(someEqual, mostDifferent), parameters, (values, chosen) => {
        const logits = Float32Array.from(values);
        const expected = probabilities(logits, settings(chosen));
        const counts = values.map(() => 0);
        for (let draw = 0; draw < draws; draw++)
          counts[chooseToken(logits, settings(chosen), () => (draw + 0.5) / draws)]!++;
        counts.forEach((count, id) =>
          expect(Math.abs(count / draws - expected[id]!)).toBeLessThan(1.01 / draws),
        );
      }),
    );
  });
});

const first = (seed: number | undefined, stream = 0) => {
  const random = createRandom(seed, stream);
  return [random(), random(), random()];
};

describe('createRandom', () => {
  it('repeats for a seed and differs for another seed or stream', () => {
    expect(first(5)).toEqual(first(5));
    expect(first(5)).not.toEqual(first(6));
    expect(first(5)).not.toEqual(first(5, 1));
    expect(first(2 ** 40)).not.toEqual(first(0));
    expect(first(undefined)).not.toEqual(first(undefined));
  });
});
