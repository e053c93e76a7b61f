import { describe, expect, it } from 'vitest';
import { countWords, firstWords } from './words.js';

it('counts what stands between spaces', () => {
  expect([' one,  two\n', '', ' \n'].map(countWords)).toEqual([2, 0, 0]);
});

describe('firstWords', () => {
  it('keeps a text that is short enough as it is', () => {
    expect(firstWords(' one  two\n', 2)).toBe(' one  two\n');
  });

  it('cuts behind the last word that fits', () => {
    expect(firstWords('one  two\nthree four', 3)).toBe('one  two\nthree');
    expect(firstWords('one', 0)).toBe('');
  });
});
