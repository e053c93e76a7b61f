import { expect, it } from 'vitest';
import { selectionsOf } from './lexical-search.js';

const terms = (...frequencies: number[]) =>
  frequencies.map((frequency, index) => ({ lexeme: 'abcdef'[index]!, frequency }));
const conditions = (...frequencies: number[]) =>
  selectionsOf(terms(...frequencies)).map(({ condition }) => condition);

it('selects chunks with any term where they are few', () => {
  expect(conditions()).toEqual([]);
  expect(conditions(5, 1_000, 995)).toEqual([`'a' | 'b' | 'c'`]);
});

it('selects those with the rare terms, and then those with several of the others', () => {
  expect(conditions(5, 1_000, 3_000, 4_000, 5_000, 6_000)).toEqual([
    `'a' | 'b'`,
    `'c' & 'd' & 'e'`,
    `'c' & ('d' | 'e') | 'd' & ('e')`,
    `'c'`,
    `'a' | 'b' | 'c' | 'd' | 'e' | 'f'`,
  ]);
  expect(conditions(3_000, 4_000)).toEqual([`'a' & ('b')`, `'a'`, `'a' | 'b'`]);
  expect(conditions(3_000)).toEqual([`'a'`]);
});

it('searches on where all three terms were asked for', () => {
  const selections = selectionsOf(terms(3_000, 4_000, 5_000));
  expect(selections.map(({ isNarrow }) => isNarrow ?? false)).toEqual([true, false, false, false]);
});

it('quotes terms', () => {
  expect(selectionsOf([{ lexeme: String.raw`it's\n`, frequency: 1 }])).toEqual([
    { condition: String.raw`'it''s\\n'` },
  ]);
});
