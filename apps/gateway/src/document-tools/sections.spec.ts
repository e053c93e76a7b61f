import { describe, expect, it } from 'vitest';
import { wholeSections } from './sections.js';

const chunk = (index: number, heading: string, text = '12345') => ({
  id: `c${index}`,
  index,
  text,
  metadata: { heading },
});
const chunks = [
  ...[0, 1].map((index) => chunk(index, 'Intro')),
  ...[2, 3, 4].map((index) => chunk(index, 'Use')),
  chunk(5, 'End'),
];
const indexes = (from: number, to: number, max = 1_000) =>
  wholeSections(chunks, { from, to }, max).map(({ index }) => index);

describe('wholeSections', () => {
  it('widens a range to the sections that it touches', () => {
    expect(indexes(3, 3)).toEqual([2, 3, 4]);
    expect(indexes(1, 2)).toEqual([0, 1, 2, 3, 4]);
    expect(indexes(5, 9)).toEqual([5]);
  });

  it('leaves out what is beyond the limit: first after the range, then before it, then its end', () => {
    expect(indexes(3, 3, 10)).toEqual([2, 3]);
    expect(indexes(3, 3, 5)).toEqual([3]);
    expect(indexes(2, 4, 10)).toEqual([2, 3]);
    expect(indexes(4, 4, 1)).toEqual([4]);
  });

  it('gives nothing after the end', () => {
    expect(indexes(6, 9)).toEqual([]);
  });
});
