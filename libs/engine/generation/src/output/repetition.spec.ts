import { describe, expect, it } from 'vitest';
import { Repetition } from './repetition.js';

/** How many tokens are taken before the end; undefined where the text does not end. */
function endOf(tokens: readonly number[]): number | undefined {
  const repetition = new Repetition();
  const at = tokens.findIndex((token) => repetition.append(token));
  return at < 0 ? undefined : at + 1;
}

describe('Repetition', () => {
  it.each([1, 2, 7, 12, 40, 64])('ends a text that repeats a phrase of %i tokens', (length) => {
    const tokens = Array.from({ length: 400 }, (_unused, index) => index % length);
    expect(endOf([901, 902, ...tokens])).toBe(2 + Math.max(48, 4 * length));
  });

  it('lets a text go on that repeats a phrase only a few times, or with a change', () => {
    const row = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20];
    expect(endOf([...row, ...row, ...row, 99])).toBeUndefined();
    expect(
      endOf(Array.from({ length: 20 }, (_unused, index) => [...row, 100 + index]).flat()),
    ).toBeUndefined();
    expect(endOf(Array.from({ length: 40 }, () => 1))).toBeUndefined();
  });
});
