import { describe, expect, it } from 'vitest';
import { tablesOf, tokensOfReader } from './passage-tables.js';

const chunk = (index: number, parts: string[], blocks = parts.map(() => 'r').join(''), more = {}) => ({
  id: `c${index}`,
  text: parts.join('\n\n'),
  score: 1,
  metadata: { document_id: 'd', chunk_index: index, filename: 'price-list.csv', blocks, ...more },
});

describe('tablesOf', () => {
  it('joins the rows of the chunks around a found one', () => {
    const [first, second, third] = [
      chunk(0, ['a: 1', 'a: 2']),
      chunk(1, ['a: 3']),
      chunk(2, ['a: 4']),
    ] as const;
    const [table] = tablesOf([second], [first, third]);
    expect(table).toEqual({
      rows: ['a: 1', 'a: 2', 'a: 3', 'a: 4'],
      chunks: ['c0', 'c0', 'c1', 'c2'],
      about: 'price-list',
      isWhole: true,
      passage: 1,
    });
  });

  it('is not whole without neighbours, or near their limit', () => {
    const found = chunk(1, ['a: 1', 'a: 2']);
    expect(tablesOf([found], undefined)[0]!.isWhole).toBe(false);
    const many = chunk(0, ['a: 0', `a: ${'word '.repeat(tokensOfReader)}`]);
    expect(tablesOf([found], [many])[0]!.isWhole).toBe(false);
  });

  it('ends a table at a text and at other headers', () => {
    const tables = tablesOf(
      [chunk(0, ['a: 1; b: 1', 'a: 2; b: 2', 'Costs:', 'c: 3; d: 3', 'e: 4; f: 4'], 'rrprr')],
      [],
    );
    expect(tables.map(({ rows }) => rows)).toEqual([
      ['a: 1; b: 1', 'a: 2; b: 2'],
      ['c: 3; d: 3'],
      ['e: 4; f: 4'],
    ]);
  });

  it('has each row once where chunks overlap, and joins a row that goes on', () => {
    const overlapping = [chunk(0, ['a: 1', 'a: 2']), chunk(1, ['a: 2', 'a: 3']), chunk(2, ['a: 3', 'a: 4'])];
    expect(tablesOf([overlapping[0]!], overlapping.slice(1))[0]!.rows).toEqual([
      'a: 1',
      'a: 2',
      'a: 3',
      'a: 4',
    ]);
    const equal = [chunk(0, ['a: 1', 'a: 2']), chunk(1, ['a: 2', 'a: 3']), chunk(2, ['a: 4', 'a: 4'])];
    expect(tablesOf([equal[0]!], equal.slice(1))[0]!.rows).toHaveLength(6);
    const long = [chunk(0, ['a: one']), chunk(1, ['two; b: 3', 'a: 4; b: 5'], 'rr', { continues: true })];
    expect(tablesOf([long[0]!], long.slice(1))[0]!.rows).toEqual(['a: one two; b: 3', 'a: 4; b: 5']);
  });
});
