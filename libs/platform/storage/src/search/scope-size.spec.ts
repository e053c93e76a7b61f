import { expect, it } from 'vitest';
import { searchWidth } from './vector-search.js';

it.each([
  [10, [], 100],
  [10, [1_000], 100],
  [10, [10_000], 300],
  [10, [40_000], 600],
  [10, [100_000], 949],
  [10, [1_000_000], 1_000],
  [10, [100_000, 100_000], 885],
  [10, Array<number>(8).fill(125_000), 862],
  [10, [40_000, 5_000, 5_000], 587],
  [400, [1_000], 800],
  [1_500, [1_000], 1_000],
])('for %i of segments of %j chunks an index keeps %i candidates', (limit, chunks, width) => {
  expect(searchWidth(limit, chunks)).toBe(width);
});
