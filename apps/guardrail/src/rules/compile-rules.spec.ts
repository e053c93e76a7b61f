import { describe, expect, it } from 'vitest';
import { compileRules } from './compile-rules.js';

const one = (fields: string) => `rules: [{ id: a, description: b, action: block, ${fields} }]`;

describe('compileRules', () => {
  it.each([
    ['an unknown field', one('patern: x'), /rules\.0/],
    [
      'a rule without patterns',
      one('message: x'),
      /rules\.0\.patterns: a rule must have phrases or patterns/,
    ],
    ['look-around, which RE2 has not', one("patterns: ['(?=x)']"), /^a: \(\?=x\): .*Perl syntax/],
    ['an unknown checksum', one('patterns: [x], checksum: isbn'), /rules\.0\.checksum/],
    ['no YAML', 'rules: [', /./],
    [
      'two of one id',
      'rules: [{ id: a, description: b, action: flag, phrases: [x] }, { id: a, description: b, action: flag, phrases: [x] }]',
      /two rules/,
    ],
  ])('refuses %s and says where', (_what, text, message) => {
    expect(() => compileRules(text)).toThrow(message);
  });

  it('changes its revision with the text', () => {
    const first = compileRules(one('phrases: [x]'));
    expect(first.revision).toMatch(/^[0-9a-f]{12}$/);
    expect(compileRules(one('phrases: [x]')).revision).toBe(first.revision);
    expect(compileRules(one('phrases: [y]')).revision).not.toBe(first.revision);
  });
});
