import { describe, expect, it } from 'vitest';
import { constraintGrammar } from '../constraint-grammar.js';
import { deadState, GrammarMachine } from '../grammar-machine.js';
import { translateDialect } from './regex-dialect.js';

function matches(pattern: string, text: string, asSchema = false): boolean {
  const constraint = asSchema
    ? { type: 'json_schema' as const, schema: { type: 'string', pattern } }
    : { type: 'regex' as const, pattern };
  const machine = new GrammarMachine(constraintGrammar(constraint));
  let state = machine.start;
  for (const byte of Buffer.from(asSchema ? JSON.stringify(text) : text)) {
    machine.refill();
    state = machine.step(state, byte);
    if (state === deadState) return false;
  }
  return machine.mayEnd(state);
}

describe('expressions', () => {
  const month = String.raw`^(?P<month>January|February)\s+(?P<day>\d{1,2})(?:st|nd|rd|th)$`;

  it.each([
    ['^[0-9]{3}$', '123', '1234'],
    ['^abc', 'abc', 'abcd'],
    [String.raw`\d{3}$`, '123', 'x123'],
    // As a tool's grammar is wrapped.
    ['^(?:^[0-9]{3}$)$', '123', '12'],
    [`^(?:${month})$`, 'January 21st', 'March 21st'],
    ['(^a|b$)', 'b', 'ab'],
    ['^(?:(^a)(b$))$', 'ab', 'a'],
    [String.raw`\A[a-z]+\z`, 'abc', 'ab1'],
    [String.raw`[[:alpha:]_]+[[:digit:]]`, 'a_b1', '1a'],
    [String.raw`\pL+\PN`, 'éa-', 'é1'],
    [String.raw`\x{e9}(?#a comment)+`, 'éé', 'e'],
    [String.raw`[\]\[:]+`, '[:]', 'a'],
  ])('%s', (pattern, whole, other) => {
    expect(matches(pattern, whole)).toBe(true);
    expect(matches(pattern, other)).toBe(false);
    if (!pattern.startsWith('^')) return;
    expect(matches(pattern, whole, true)).toBe(true);
  });

  it.each(['a^b', 'a$b', '(?:a$|b)c', '(?:^a)+'])('refuse anchors inside, as in %s', (pattern) => {
    expect(() => matches(pattern, 'ab')).toThrow(/at the start and the end/);
  });

  it('of JavaScript stay as they are', () => {
    for (const pattern of [String.raw`\p{L}[\p{N}:]\x41(?<name>a)`, '[[a]', String.raw`\\A`])
      expect(translateDialect(pattern)).toBe(pattern);
    expect(() => translateDialect('[[:wort:]]')).toThrow(/not supported/);
  });
});
