import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitTexts, splitInHalf, maxScores, windowStarts } from './text-pieces.js';

describe('windowStarts', () => {
  it('covers a length without a gap, neighbors sharing at least the overlap', () => {
    const anyWindow = fc
      .record({ size: fc.integer({ min: 1, max: 50 }), length: fc.nat(300) })
      .chain(({ size, length }) =>
        fc.record({
          size: fc.constant(size),
          length: fc.constant(length),
          overlap: fc.integer({ min: 0, max: size - 1 }),
        }),
      );
    fc.assert(
      fc.property(anyWindow, ({ size, length, overlap }) => {
        const starts = windowStarts(length, size, overlap);
        expect(starts[0]).toBe(0);
        expect(starts.at(-1)! + size).toBeGreaterThanOrEqual(length);
        for (const [index, start] of starts.slice(1).entries()) {
          expect(start).toBeGreaterThan(starts[index]!);
          expect(start + overlap).toBeLessThanOrEqual(starts[index]! + size);
          // Every window but an only one is full.
          expect(start + size).toBeLessThanOrEqual(length);
        }
      }),
    );
  });
});

describe('splitInHalf', () => {
  it('are shorter, share a part and leave nothing out', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 4, maxLength: 200 }), (text) => {
        const [first, second] = splitInHalf({ text, of: 3 });
        const shared = first!.text.length + second!.text.length - text.length;
        expect(shared).toBeGreaterThanOrEqual(Math.max(2, Math.floor(text.length / 8)));
        expect(first!.text + second!.text.slice(shared)).toBe(text);
        expect(first!.text.length).toBeLessThan(text.length);
        expect([first!.of, second!.of]).toEqual([3, 3]);
      }),
    );
    expect(splitInHalf({ text: 'abc', of: 0 })).toEqual([]);
  });
});

describe('splitTexts and maxScores', () => {
  it('keep what belongs to which text', () => {
    const pieces = splitTexts(['abcdefg', '', 'xyz'], { characters: 4, overlap: 1 });
    expect(pieces).toEqual([
      { text: 'abcd', of: 0 },
      { text: 'defg', of: 0 },
      { text: '', of: 1 },
      { text: 'xyz', of: 2 },
    ]);
    const rows = [
      [0.1, 0.9],
      [0.7, 0.2],
      [0, 0],
      [0.5, 0.5],
    ];
    expect(maxScores(pieces, rows, 3)).toEqual([
      [0.7, 0.9],
      [0, 0],
      [0.5, 0.5],
    ]);
  });
});
