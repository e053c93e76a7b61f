import { describe, expect, it } from 'vitest';
import { cosineSimilarity, selectDiverse } from './maximal-marginal-relevance.js';

const candidate = (name: string, score: number, ...values: number[]) => ({
  name,
  score,
  embedding: Float32Array.from(values),
});
const candidates = [
  candidate('best', 0.9, 1, 0),
  candidate('twin', 0.89, 1, 0.01),
  candidate('other', 0.5, 0, 1),
  candidate('opposite', -0.9, -1, 0),
];
const select = (k: number, lambda: number) => selectDiverse(candidates, k, lambda).map(({ name }) => name);

describe('selectDiverse', () => {
  it('is the order of relevance with lambda 1', () => {
    expect(select(4, 1)).toEqual(['best', 'twin', 'other', 'opposite']);
  });

  it('starts with the best and avoids its twin', () => {
    expect(select(2, 0.7)).toEqual(['best', 'other']);
    expect(select(2, 0)).toEqual(['best', 'opposite']);
  });

  it('gives what there is', () => {
    expect(select(9, 0.5)).toHaveLength(4);
    expect(selectDiverse([], 3, 0.5)).toEqual([]);
  });
});

describe('cosineSimilarity', () => {
  it('does not depend on length', () => {
    expect(cosineSimilarity(Float32Array.of(2, 0), Float32Array.of(5, 5))).toBeCloseTo(Math.SQRT1_2, 6);
  });
});
