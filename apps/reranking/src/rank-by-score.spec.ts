import { describe, expect, it } from 'vitest';
import { rankByScore, type RankFusion } from './rank-by-score.js';

const rrf: RankFusion = { weight: 1, constant: 60 };

const indexes = (scores: number[], fusion?: RankFusion) =>
  rankByScore(scores, fusion).map(({ index }) => index);

describe('rankByScore', () => {
  it('orders by score, equal ones as they came', () => {
    expect(indexes([0.2, 0.9, 0.2, 0.5])).toEqual([1, 3, 0, 2]);
  });

  it('keeps the scores of the model where nothing is fused', () => {
    expect(rankByScore([0.25, 0.75])).toEqual([
      { index: 1, score: 0.75 },
      { index: 0, score: 0.25 },
    ]);
  });

  it('fuses with the order of the request', () => {
    // Ranks of the model: 3, 0, 1, 2. Sums: 1/61+1/62, 1/62+1/63, 1/63+1/64, 1/64+1/61.
    expect(indexes([0.8, 0.7, 0.6, 0.9], rrf)).toEqual([0, 3, 1, 2]);
    expect(rankByScore([0.1], rrf)).toEqual([{ index: 0, score: 2 / 61 }]);
  });

  it('lets the model decide between equal sums', () => {
    expect(indexes([0.1, 0.9], rrf)).toEqual([1, 0]);
  });

  it('lets a light model move only what it is surest of', () => {
    const light: RankFusion = { weight: 0.1, constant: 10 };
    expect(indexes([0.1, 0.2, 0.3, 0.9], light)).toEqual([0, 1, 2, 3]);
    expect(indexes([0.1, 0.2, 0.3, 0.9], { ...light, weight: 10 })).toEqual([3, 2, 1, 0]);
  });

  it('has nothing to order in an empty list', () => {
    expect(rankByScore([], rrf)).toEqual([]);
  });
});
