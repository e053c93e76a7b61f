import { expect, it } from 'vitest';
import { searchWidth } from './vector-search.js';

it.each([
  [10, 0, 100],
  [10, 1_000, 100],
  [10, 10_000, 300],
  [10, 40_000, 600],
  [10, 100_000, 949],
  [10, 1_000_000, 1_000],
  [400, 0, 800],
  [1_500, 0, 1_000],
])('for %i of %i chunks the index keeps %i candidates', (limit, chunks, width) => {
  expect(searchWidth(limit, chunks)).toBe(width);
});
