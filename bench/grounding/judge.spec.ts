import { describe, expect, it } from 'vitest';
import { holdsLiterally, holdsWords } from './judge.js';

describe('holdsWords', () => {
  it('finds an answer whatever its marks, case and articles', () => {
    expect(holdsWords('It is the “Silver-Tower”.', ['a silver tower'])).toBe(true);
    expect(holdsWords('It is the gold tower.', ['silver tower', ''])).toBe(false);
  });
});

describe('holdsLiterally', () => {
  it('finds a name to the letter, and not as a part of a longer one', () => {
    expect(holdsLiterally('Use `--proxy <host>`.', ['--proxy'])).toBe(true);
    expect(holdsLiterally('Use --proxy-header.', ['--proxy'])).toBe(false);
    expect(holdsLiterally('stop it\n   and copy', ['stop it and copy'])).toBe(true);
  });
});
