import { describe, expect, it } from 'vitest';
import { rankByScore, rankFusion, type RankFusion, sharedPhrases } from './rank-by-score.js';

const rrf: RankFusion = { method: 'rrf', weight: 1, constant: 60 };

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
    const light = { method: 'rrf', weight: 0.1, constant: 10 } as const;
    expect(indexes([0.1, 0.2, 0.3, 0.9], light)).toEqual([0, 1, 2, 3]);
    expect(indexes([0.1, 0.2, 0.3, 0.9], { ...light, weight: 10 })).toEqual([3, 2, 1, 0]);
  });

  it('adds standard scores of the search and weighted ones of the model', () => {
    const fused = (weight: number) =>
      rankByScore([0.5, 0.9, 0.1], { method: 'scores', weight, searchScores: [30, 10, 20] });
    // Logits 0, 2.2, -2.2 and scores 30, 10, 20 have the standard scores 0, 1.22, -1.22 and 1.22, -1.22, 0.
    const logistic = (sum: number) => 1 / (1 + Math.exp(-sum * Math.sqrt(1.5)));
    expect(fused(0.5).map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(fused(2).map(({ index }) => index)).toEqual([1, 0, 2]);
    expect(fused(0.5)[0]?.score).toBeCloseTo(logistic(1), 10);
    expect(fused(2)[2]?.score).toBeCloseTo(logistic(-2), 10);
  });

  it('adds a bonus for each phrase of the query', () => {
    const fused = (phrases?: { weight: number; counts: number[] }) =>
      rankByScore([0.5, 0.5], { method: 'scores', weight: 1, searchScores: [2, 1], phrases });
    expect(fused().map(({ index }) => index)).toEqual([0, 1]);
    const ranked = fused({ weight: 0.75, counts: [0, 3] });
    expect(ranked.map(({ index }) => index)).toEqual([1, 0]);
    // One standard deviation below the mean, and three phrases.
    expect(ranked[0]?.score).toBeCloseTo(1 / (1 + Math.exp(-(3 * 0.75 - 1))), 10);
  });

  it('does not depend on the scale of the search', () => {
    const scores = [0.2, 0.7, 0.6, 0.1];
    const fused = (searchScores: number[]) =>
      rankByScore(scores, { method: 'scores', weight: 1, searchScores });
    const cosines = fused([0.9, 0.8, 0.3, 0.1]);
    fused([18, 16, 6, 2]).forEach(({ index, score }, rank) => {
      expect(index).toBe(cosines[rank]?.index);
      expect(score).toBeCloseTo(cosines[rank]!.score, 10);
    });
  });

  it('keeps the order of the model where the search has equal scores', () => {
    const fused = rankByScore([0.1, 1, 0, 0.9], { method: 'scores', weight: 1, searchScores: [1, 1, 1, 1] });
    expect(fused.map(({ index }) => index)).toEqual([1, 3, 0, 2]);
    expect(fused.every(({ score }) => Number.isFinite(score))).toBe(true);
  });

  it('has nothing to order in an empty list', () => {
    expect(rankByScore([], rrf)).toEqual([]);
    expect(rankByScore([], { method: 'scores', weight: 1, searchScores: [] })).toEqual([]);
  });
});

describe('rankFusion', () => {
  const settings = {
    model: 'm',
    maxPassageWords: 100,
    fusion: 'scores',
    fusionWeight: 1.3,
    fusionConstant: 10,
    fusionPhraseWeight: 0.5,
    topN: 5,
  } as const;
  const query = 'The Free University';
  const passages = ['a free university', 'a university that is free'];

  it('counts the phrases of the query where the profile weighs them', () => {
    const fusion = { method: 'scores', weight: 1.3, searchScores: [1, 2] };
    expect(rankFusion(settings, { query, passages, scores: [1, 2] })).toEqual({
      ...fusion,
      phrases: { weight: 0.5, counts: [1, 0] },
    });
    expect(rankFusion({ ...settings, fusionPhraseWeight: 0 }, { query, passages, scores: [1, 2] })).toEqual(
      fusion,
    );
  });

  it('fuses nothing by scores without them', () => {
    expect(rankFusion(settings, { query, passages })).toBeUndefined();
    expect(rankFusion({ ...settings, fusion: 'none' }, { query, passages, scores: [1, 2] })).toBeUndefined();
    expect(rankFusion({ ...settings, fusion: 'rrf' }, { query, passages })).toEqual({
      method: 'rrf',
      weight: 1.3,
      constant: 10,
    });
  });
});

describe('sharedPhrases', () => {
  it('counts neighboring words by their stems, across stop words', () => {
    const query = 'Who founded the Free University of Brussels?';
    const texts = [
      'The Free University of Brussels was founded in 1834.',
      'A university that is free of charge; Brussels has two.',
      'free universities, FREE UNIVERSITY',
      'University',
      '',
    ];
    expect(sharedPhrases(query, texts)).toEqual([2, 0, 1, 0, 0]);
  });

  it('finds none for a query of one word', () => {
    expect(sharedPhrases('Brussels', ['Brussels Brussels'])).toEqual([0]);
  });
});
