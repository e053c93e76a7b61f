import { describe, expect, it } from 'vitest';
import { fuse } from './fusion.js';

const ranking = (scores: Record<string, number>) =>
  Object.entries(scores).map(([id, score]) => ({ id, text: id, score, metadata: {} }));
const settings = { method: 'rrf', similarityWeight: 1, rankConstant: 60 } as const;
const lexical = ranking({ a: 9, b: 4, c: 1 });
const similar = ranking({ c: 0.9, a: 0.5 });
const scores = (fused: ReturnType<typeof fuse>) => fused.map(({ id, score }) => [id, score]);

describe('fuse', () => {
  it('adds reciprocal ranks', () => {
    expect(scores(fuse({ lexical, similar }, settings))).toEqual([
      ['a', 1 / 61 + 1 / 62],
      ['c', 1 / 63 + 1 / 61],
      ['b', 1 / 62],
    ]);
  });

  it('weighs the vector search; of equals the words come first', () => {
    const order = (similarityWeight: number) =>
      fuse({ lexical: ranking({ a: 1 }), similar: ranking({ b: 1 }) }, { ...settings, similarityWeight }).map(
        ({ id }) => id,
      );
    expect(order(1)).toEqual(['a', 'b']);
    expect(order(2)).toEqual(['b', 'a']);
  });

  it('adds scores, counting similarity from the last hit of the vector search', () => {
    const fused = fuse({ lexical, similar }, { ...settings, method: 'scores', similarityWeight: 10 });
    expect(fused.map(({ id }) => id)).toEqual(['a', 'c', 'b']);
    expect(fused[1]?.score).toBeCloseTo(1 + 10 * 0.4, 10);
    expect(fused[0]?.score).toBe(9);
  });

  it.each(['rrf', 'scores'] as const)('does with one ranking or none by %s', (method) => {
    expect(fuse({ lexical, similar: [] }, { ...settings, method }).map(({ id }) => id)).toEqual([
      'a',
      'b',
      'c',
    ]);
    expect(fuse({ lexical: [], similar }, { ...settings, method }).map(({ id }) => id)).toEqual(['c', 'a']);
    expect(fuse({ lexical: [], similar: [] }, { ...settings, method })).toEqual([]);
  });
});
