import { expect, it } from 'vitest';
import { searchWidth } from './vector-search.js';

it.each([
  [10, 0, 100],
  [10, 2_500, 100],
  [10, 10_000, 200],
  [10, 40_000, 400],
  [10, 200_000, 894],
  [10, 1_000_000, 1_000],
  [400, 0, 800],
  [1_500, 0, 1_000],
])('for %i of %i chunks the index keeps %i candidates', (limit, chunks, width) => {
  expect(searchWidth(limit, chunks)).toBe(width);
});
