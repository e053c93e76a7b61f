import { describe, expect, it } from 'vitest';
import { cutWords } from './cut-words.js';

describe('cutWords', () => {
  it('keeps a text that is short enough as it is', () => {
    expect(cutWords(' one  two\n', 2)).toBe(' one  two\n');
  });

  it('cuts behind the last word that fits', () => {
    expect(cutWords('one  two\nthree four', 3)).toBe('one  two\nthree');
  });
});
