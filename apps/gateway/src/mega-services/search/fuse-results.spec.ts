import type { RetrievedDocument, SearchType } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { fuseResults, type QueryResult } from './fuse-results.js';

type Scored = [id: string, score: number, similarity?: number];

const documentsOf = (scored: Scored[]): RetrievedDocument[] =>
  scored.map(([id, score, similarity]) => ({
    id,
    text: id,
    score,
    ...(similarity !== undefined && { similarity }),
    metadata: {},
  }));
const result = (scored: Scored[], weight = 1, searchType: SearchType = 'hybrid'): QueryResult => ({
  documents: documentsOf(scored),
  searchType,
  weight,
});
const ids = (documents: RetrievedDocument[]) => documents.map(({ id }) => id);

describe('fuseResults', () => {
  it('leaves one result as it is', () => {
    const only: Scored[] = [
      ['a', 9],
      ['b', 7],
    ];
    expect(fuseResults([result(only)])).toEqual(documentsOf(only));
    expect(fuseResults([result([]), result(only)])).toEqual(documentsOf(only));
    expect(fuseResults([result([])])).toEqual([]);
    expect(fuseResults([])).toEqual([]);
  });

  it('has each passage once, with its greatest share of the best score of a query', () => {
    const fused = fuseResults([
      result([
        ['a', 20],
        ['b', 12],
        ['c', 2],
      ]),
      result([
        ['d', 5],
        ['b', 4.5],
      ]),
    ]);
    expect(fused.map(({ id, score }) => [id, score])).toEqual([
      ['a', 20],
      ['d', 20],
      ['b', 18],
    ]);
  });

  it('weighs the queries', () => {
    const results = (weight: number) => [result([['a', 3]]), result([['b', 40]], weight)];
    expect(ids(fuseResults(results(0.7)))).toEqual(['a']);
    expect(ids(fuseResults(results(1.3)))).toEqual(['b']);
  });

  it('keeps the greatest similarity of a passage', () => {
    const [a] = fuseResults([result([['a', 9, 0.4]]), result([['a', 3, 0.8]])]);
    expect(a!.similarity).toBe(0.8);
    const fused = fuseResults([
      result([['a', 0.4, 0.4]], 1, 'similarity'),
      result(
        [
          ['b', 0.9, 0.9],
          ['a', 0.6, 0.6],
        ],
        0.7,
        'similarity',
      ),
    ]);
    expect(fused.map(({ id, score }) => [id, score])).toEqual([
      ['b', 0.9],
      ['a', 0.6],
    ]);
  });

  it('does not divide by a best score of zero', () => {
    const fused = fuseResults([result([['a', 0]]), result([['b', 0]])]);
    expect(fused.every(({ score }) => Number.isFinite(score))).toBe(true);
  });
});
