import { describe, expect, it } from 'vitest';
import { mostInMemory, segmentsToMerge } from './segment-growth.js';
import { coverOf, quoteLiteral, segmentName, type VectorSegment } from './vector-segments.js';

const segment = (from: number, to: number, isReady = true): VectorSegment => ({
  name: `${from} to ${to}`,
  from,
  to,
  rows: to - from,
  isReady,
});
const namesOf = (segments: VectorSegment[]) => segments.map(({ name }) => name);

describe('coverOf', () => {
  it('reads ready segments that follow each other, long ones first', () => {
    const segments = [
      segment(20, 30),
      segment(0, 10),
      segment(10, 20),
      segment(0, 20),
      segment(30, 40, false),
    ];
    expect(namesOf(coverOf(segments))).toEqual(['0 to 20', '20 to 30']);
  });

  it('ends where one is missing', () => {
    expect(namesOf(coverOf([segment(0, 10), segment(20, 30)]))).toEqual(['0 to 10']);
    expect(coverOf([segment(10, 20)])).toEqual([]);
  });
});

describe('segmentsToMerge', () => {
  const policy = { unindexed: 10, merged: 4, most: 1_000 };
  /** Segments of these sizes, one after the other. */
  const ofSizes = (...sizes: number[]) => {
    let from = 0;
    return sizes.map((size) => segment(from, (from += size)));
  };

  it('waits until enough are of one size', () => {
    expect(segmentsToMerge(ofSizes(10, 10), 10, policy)).toEqual([]);
    expect(segmentsToMerge(ofSizes(10, 10, 10), 10, policy)).toHaveLength(3);
    expect(namesOf(segmentsToMerge(ofSizes(40, 10, 10, 10), 10, policy))).toEqual([
      '40 to 50',
      '50 to 60',
      '60 to 70',
    ]);
  });

  it('goes on with the next size', () => {
    expect(segmentsToMerge(ofSizes(40, 40, 40, 10, 10, 10), 10, policy)).toHaveLength(6);
  });

  it('waits until no more would fit', () => {
    expect(segmentsToMerge(ofSizes(300), 300, policy)).toEqual([]);
    expect(segmentsToMerge(ofSizes(300, 300), 300, policy)).toHaveLength(2);
  });

  it('keeps to the largest size, and leaves large ones alone', () => {
    expect(segmentsToMerge(ofSizes(900, 800), 900, policy)).toEqual([]);
    expect(segmentsToMerge(ofSizes(1_000, 10, 10, 10), 10, policy)).toHaveLength(3);
  });

  it('builds a chunk again a few times only', () => {
    const cover: VectorSegment[] = [];
    let [at, built] = [0, 0];
    for (let turn = 0; turn < 1_000; turn += 1) {
      const merged = segmentsToMerge(cover, 10, policy);
      cover.splice(cover.length - merged.length);
      const from = merged[0]?.from ?? at;
      at += 10;
      cover.push(segment(from, at));
      built += at - from;
    }
    expect(built / at).toBeLessThan(6);
    expect(cover.length).toBeLessThan(30);
  });

  it('never merges where the embedded database would wait for it', () => {
    const embedded = { unindexed: 2_000, merged: Infinity, most: 2_500 };
    expect(segmentsToMerge(ofSizes(2_000, 2_000), 2_000, embedded)).toEqual([]);
  });
});

it('gives wide vectors smaller segments, which fit into memory', () => {
  expect(mostInMemory(384)).toBe(126_740);
  expect(mostInMemory(4_000)).toBe(28_709);
});

it('names a segment by its collection and its range', () => {
  const name = segmentName('x'.repeat(300), 4_000, { from: 2 ** 53 - 2, to: 2 ** 53 - 1 });
  expect(name.length).toBeLessThanOrEqual(63);
  expect(segmentName('a', 8, { from: 0, to: 1 })).not.toBe(segmentName('b', 8, { from: 0, to: 1 }));
});

it.each([
  ["o'neill", "'o''neill'"],
  ['a\\b', " E'a\\\\b'"],
])('quotes %s', (value, quoted) => {
  expect(quoteLiteral(value)).toBe(quoted);
});
