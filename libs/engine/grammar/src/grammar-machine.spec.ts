import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OutputConstraint } from '#platform/contracts';
import { constraintGrammar, prepareGrammar } from './constraint-grammar.js';
import { ConstraintError } from './grammar.js';
import { deadState, GrammarMachine } from './grammar-machine.js';
import { larkGrammar } from './lark/lark-grammar.js';

/** Whether the grammar takes a text, and how many of its bytes it follows. */
function follow(machine: GrammarMachine, text: string): { whole: boolean; bytes: number } {
  let state = machine.start;
  let bytes = 0;
  for (const byte of Buffer.from(text)) {
    machine.refill();
    state = machine.step(state, byte);
    if (state === deadState) return { whole: false, bytes };
    bytes++;
  }
  return { whole: machine.mayEnd(state), bytes };
}

const machineOf = (constraint: OutputConstraint) => new GrammarMachine(constraintGrammar(constraint));
const regex = (pattern: string) => machineOf({ type: 'regex', pattern });
const lark = (source: string) => new GrammarMachine(prepareGrammar(larkGrammar(source)));

/** Expressions with a repetition of everything. */
const expression = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('a', 'b', '[ab]', '.', 'é', '[^a]', '日'),
    fc.tuple(tie('any'), tie('any')).map(([one, other]) => `(?:${one}${other})`),
    fc.tuple(tie('any'), tie('any')).map(([one, other]) => `(?:${one}|${other})`),
    fc
      .tuple(tie('any'), fc.constantFrom('*', '+', '?', '{2}', '{0,3}', '{1,2}', '{2,}'))
      .map(([one, times]) => `(?:${one})${times}`),
  ),
})).any;
const someText = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '日', 'c'), maxLength: 8 });

describe('GrammarMachine', () => {
  it('takes what an expression takes', () => {
    fc.assert(
      fc.property(expression, someText, (pattern, text) => {
        expect(follow(regex(pattern), text).whole).toBe(new RegExp(`^(?:${pattern})$`, 'u').test(text));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    [
      { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
      ['0', '-31', '999999999999999'],
      [],
    ],
    [{ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, ['0', '31', '999999999999999'], ['-31']],
    [{ exclusiveMaximum: 1e300, multipleOf: 7 }, ['14', '-7'], ['15']],
  ])('takes integers within %j, as clients write the bounds of an integer', (bounds, taken, refused) => {
    const machine = machineOf({ type: 'json_schema', schema: { type: 'integer', ...bounds } });
    const tried = [...taken, ...refused, '1.5', ''];
    expect(tried.filter((text) => follow(machine, text).whole)).toEqual(taken);
  });

  it('knows the byte that ends a text on the shortest way, in grammars of many rules and deep ones', () => {
    const closing = (machine: GrammarMachine, text: string) => {
      let state = machine.start;
      for (const byte of Buffer.from(text)) state = machine.step(state, byte);
      const byte = machine.closing(state);
      return byte === deadState ? undefined : String.fromCharCode(byte);
    };
    const chain = Array.from({ length: 900 }, (_unused, index) => `r${index} ::= "a" r${index + 1} | "b"`);
    const rules = machineOf({
      type: 'grammar',
      grammar: `root ::= "(" r0 ")"\n${chain.join('\n')}\nr900 ::= "c"`,
    });
    expect(closing(rules, '(a')).toBe('b');
    expect(closing(rules, '(ab')).toBe(')');
    expect(closing(regex('(?:é|a){2,3}!'), 'aa')).toBe('!');
    expect(closing(regex('(?:b|a)!'), '')).toBeUndefined();
    expect(closing(regex(`${'(?:a'.repeat(20)}${')?'.repeat(20)}!`), 'aaa')).toBe('!');
  });

  it('counts nested repetitions without writing them out', () => {
    const startedAt = performance.now();
    const machine = regex('(((((a){32}){32}){32}){32}){32}');
    expect(follow(machine, 'a'.repeat(2000))).toEqual({ whole: false, bytes: 2000 });
    expect(follow(machine, 'ab').bytes).toBe(1);
    // To unroll them took 17 seconds and 444 MB for a shorter one.
    expect(performance.now() - startedAt).toBeLessThan(2000);
    const schema = (depth: number): object =>
      depth === 0 ? { const: 1 } : { type: 'array', maxItems: 4000, minItems: 3, items: schema(depth - 1) };
    const nested = machineOf({ type: 'json_schema', schema: schema(6) as Record<string, unknown> });
    expect(follow(nested, '[[[[[[1,1,1],').bytes).toBeGreaterThan(9);
    expect(performance.now() - startedAt).toBeLessThan(4000);
  });

  it.each([
    '(a*)*b',
    '((a?){0,1000}){0,1000}b',
    '(a|a|aa)*b',
    '(a{0,32}){0,32}b',
    '((a+)+)+b',
    '(.*a.*)*b',
    '(a|b|ab)*c',
  ])('follows %s without going wrong or long', (pattern) => {
    const startedAt = performance.now();
    expect(follow(regex(pattern), `${'a'.repeat(200)}${pattern.endsWith('c') ? 'c' : 'b'}`).whole).toBe(true);
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  it('gives up where one text can be read in too many ways, and soon', () => {
    const machine = regex('((((a{1,30}){1,30}b?){1,30}a?){1,30}c?){1,30}x');
    const startedAt = performance.now();
    const attempt = () => {
      try {
        follow(machine, 'a'.repeat(500));
      } catch (error) {
        return error;
      }
      return 'followed';
    };
    expect(attempt()).toBeInstanceOf(ConstraintError);
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  it.each([
    ['direct', 'start: sum\nsum: sum "+" term | term\nterm: /[0-9]/'],
    ['indirect', 'start: sum\nsum: more | term\nmore: sum "+" term\nterm: /[0-9]/'],
    ['nested', 'start: sum\nsum: (sum "+")? term\nterm: /[0-9]/'],
  ])('follows %s left recursion', (_kind, source) => {
    expect(follow(lark(source), '1+2+3').whole).toBe(true);
    expect(follow(lark(source), '1+2+').whole).toBe(false);
    expect(follow(lark(source), '+1').bytes).toBe(0);
  });

  it('refuses a rule that begins with itself behind nothing', () => {
    expect(() => lark('start: "a"? start "b" | "c"')).toThrow(/begins with itself/);
  });

  it('goes on in another machine where one is full', () => {
    const machine = regex('\\[(a{2},){0,9}\\]');
    let state = machine.start;
    for (const byte of Buffer.from('[aa,a')) state = machine.step(state, byte);
    const next = machine.continued(state);
    state = next.state;
    for (const byte of Buffer.from('a,]')) state = next.machine.step(state, byte);
    expect(next.machine.mayEnd(state)).toBe(true);
    expect(next.machine.step(next.state, 'b'.codePointAt(0)!)).toBe(deadState);
  });

  it('takes thousands of choices that begin alike', () => {
    const choices = Array.from({ length: 10_000 }, (_unused, index) => `choice ${index}`);
    const machine = machineOf({ type: 'choice', choices });
    expect(follow(machine, 'choice 9999').whole).toBe(true);
    expect(follow(machine, 'choice 10000').whole).toBe(false);
  });

  it('notices every trigger in free text', () => {
    const tags = ['<<a>', '<b>'].map((begin) => ({ begin, end: '</>', schema: { const: 1 } as never }));
    const machine = machineOf({ type: 'structural_tag', triggers: ['<<a', '<b'], tags });
    expect(follow(machine, 'x < <<a>1</> y <<b>1</>< <').whole).toBe(true);
    expect(follow(machine, '<<<a>1</>').whole).toBe(true);
    expect(follow(machine, '<b>2').bytes).toBe(3);
    expect(follow(machine, '<<b>').whole).toBe(false);
  });
});
