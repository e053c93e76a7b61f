import { expect, it } from 'vitest';
import { escapePattern } from './escape-pattern.js';

it('matches any text literally', () => {
  const text = String.raw`.*+?^${'${}'}()|[]\/-a 1`;
  for (const flags of ['', 'u', 'iu'])
    expect(new RegExp(`^${escapePattern(text)}$`, flags).test(text)).toBe(true);
  expect(new RegExp(escapePattern('a.c')).test('abc')).toBe(false);
});
