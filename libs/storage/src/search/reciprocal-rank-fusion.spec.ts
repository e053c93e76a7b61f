import { describe, expect, it } from 'vitest';
import { fuseRankings } from './reciprocal-rank-fusion.js';

const ranking = (...ids: string[]) => ids.map((id) => ({ id, text: id, score: 1, metadata: {} }));

describe('fuseRankings', () => {
  it('adds the reciprocal ranks', () => {
    const fused = fuseRankings(
      [
        { hits: ranking('a', 'b', 'c'), weight: 1 },
        { hits: ranking('c', 'a'), weight: 1 },
      ],
      60,
    );
    expect(fused.map(({ id, score }) => [id, score])).toEqual([
      ['a', 1 / 61 + 1 / 62],
      ['c', 1 / 63 + 1 / 61],
      ['b', 1 / 62],
    ]);
  });

  it('weighs the rankings and keeps their order between equals', () => {
    const fuse = (left: number, right: number) =>
      fuseRankings(
        [
          { hits: ranking('a'), weight: left },
          { hits: ranking('b'), weight: right },
        ],
        1,
      ).map(({ id }) => id);
    expect(fuse(1, 2)).toEqual(['b', 'a']);
    expect(fuse(1, 1)).toEqual(['a', 'b']);
    expect(fuseRankings([], 60)).toEqual([]);
  });
});
