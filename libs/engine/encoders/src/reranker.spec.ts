import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadReranker, type Reranker } from './reranker.js';

describe('nano-rerank', () => {
  let reranker: Reranker;
  beforeAll(async () => {
    reranker = await loadReranker('nano-rerank', { workers: 1 });
  });
  afterAll(() => reranker.close());

  it('ranks the passage that answers first', async () => {
    const { scores, promptTokens } = await reranker.rerank('When does the office in Lisbon open?', [
      'Zorvex is a message broker written in Rust.',
      'The office in Lisbon opens at 8 am and closes at 7 pm.',
      'Employees receive 25 days of paid vacation per year.',
    ]);
    expect(scores.indexOf(Math.max(...scores))).toBe(1);
    for (const score of scores) expect(score > 0 && score < 1).toBe(true);
    expect(promptTokens).toBeGreaterThan(30);
  });

  it('prefers a passage with the words of the question in other forms to one about the same subject', async () => {
    const { scores } = await reranker.rerank('How many times did plague occur in Venice?', [
      'Venice is a city in Italy, and it was rich for many centuries.',
      'Plague occurred in Venice 22 times between 1361 and 1528.',
      'The plague is a disease that many rats carry, many times over.',
    ]);
    expect(scores.indexOf(Math.max(...scores))).toBe(1);
    expect(scores[1]).toBeGreaterThan(0.9);
  });

  it('cuts passages and queries that are too long', async () => {
    const { scores, promptTokens } = await reranker.rerank('word '.repeat(600), ['text '.repeat(900), '']);
    expect(scores).toHaveLength(2);
    expect(promptTokens).toBeLessThanOrEqual(2 * reranker.info.maxInputTokens);
  });

  it('refuses a passage that is too long where nothing is to be cut', async () => {
    const limit = reranker.info.maxInputTokens;
    const texts = ['A short one.', 'text '.repeat(2 * limit)];
    await expect(reranker.rerank('anything', texts, { truncate: false })).rejects.toMatchObject({
      code: 'context_length_exceeded',
      param: 'texts[1]',
    });
    const { scores } = await reranker.rerank('anything', texts.slice(0, 1), { truncate: false });
    expect(scores).toHaveLength(1);
  });

  it('answers an empty list of passages with no scores', async () => {
    expect(await reranker.rerank('anything', [])).toEqual({ scores: [], promptTokens: 0 });
  });
});
