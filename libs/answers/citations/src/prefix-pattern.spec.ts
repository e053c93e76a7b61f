import { expect, it } from 'vitest';
import { prefixPattern } from './prefix-pattern.js';

it.each<[string, string, string[], string[]]>([
  [String.raw`\[\d{1,2}\]`, '[12]', ['', '[', '[1', '[12', '[12]'], ['[x', '[123', 'a[1] ']],
  [String.raw`(?:ab|a(?:c|\p{N})+)d?`, 'acd', ['a', 'ab', 'ac', 'a1c', 'abd'], ['abx', 'b1']],
  [String.raw`(?<!\p{L})no[.:]?(?!\d)`, 'no.', ['n', 'no', 'no:'], ['nox', 'no.1']],
])('prefixPattern(%s) matches the beginnings', (source, whole, beginnings, others) => {
  const [full, prefix] = [new RegExp(`^(?:${source})$`, 'u'), new RegExp(`^${prefixPattern(source)}`, 'u')];
  expect(full.test(whole)).toBe(true);
  for (const text of beginnings) expect([text, prefix.test(text)]).toEqual([text, true]);
  for (const text of others) expect([text, prefix.test(text)]).toEqual([text, false]);
});
