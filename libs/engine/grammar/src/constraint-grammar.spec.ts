import { describe, expect, it } from 'vitest';
import type { OutputConstraint } from '#platform/contracts';
import { ConstraintError } from './grammar.js';
import { constraintGrammar, prepareGrammar, readConstraint } from './constraint-grammar.js';
import { larkGrammar } from './lark/lark-grammar.js';

function refusal(constraint: OutputConstraint): { path: string; reason: string } {
  try {
    constraintGrammar(constraint);
  } catch (error) {
    if (error instanceof ConstraintError) return { path: error.path.join('.'), reason: error.reason };
    throw error;
  }
  throw new Error('It was taken.');
}

const schema = (value: Record<string, unknown>): OutputConstraint => ({ type: 'json_schema', schema: value });
const grammar = (text: string): OutputConstraint => ({ type: 'grammar', grammar: text });
const regex = (pattern: string): OutputConstraint => ({ type: 'regex', pattern });

describe('constraintGrammar', () => {
  it.each([
    [{ not: { type: 'string' } }, 'schema.not', '"not" is not supported'],
    [{ type: 'object', properties: { a: { if: {} } } }, 'schema.properties.a.if', 'anyOf'],
    [{ type: 'array', items: { maxlength: 3 } }, 'schema.items.maxlength', 'not supported'],
    [{ type: 'array', uniqueItems: true }, 'schema.uniqueItems', 'not supported'],
    [{ type: 'array', contains: {} }, 'schema.contains', 'items'],
    [{ type: 'strin' }, 'schema.type', 'There is no type "strin"'],
    [{ type: 'string', minLength: -1 }, 'schema.minLength', '>=0'],
    [{ type: 'string', format: 'binary' }, 'schema.format', 'date-time'],
    [{ type: 'string', pattern: '(?<=a)b' }, 'schema.pattern', 'looking around'],
    [{ type: 'string', pattern: 'a', maxLength: 3 }, 'schema.maxLength', 'every text of the pattern'],
    [{ $ref: '#/$defs/none' }, 'schema.$ref', 'leads nowhere'],
    [{ $ref: 'https://example.org/schema' }, 'schema.$ref', 'same schema'],
    [{ oneOf: [{ type: 'integer' }, { type: 'number' }] }, 'schema.oneOf', 'anyOf'],
    [{ oneOf: [{ properties: { a: true } }, { properties: { b: true } }] }, 'schema.oneOf', 'constant'],
    [{ type: 'object', minProperties: 3 }, 'schema.minProperties', 'at most 1'],
    [{ allOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, 'schema', 'multipleOf'],
    [{ type: 'integer', multipleOf: 7, minimum: 0 }, 'schema.multipleOf', '1000'],
    [{ type: 'integer', minimum: 1e15 }, 'schema', 'beyond ±10^15'],
    [{ enum: ['a'], pattern: 'a' }, 'schema.pattern', 'beside "enum"'],
  ])('refuses %j and says where', (value, path, reason) => {
    const refused = refusal(schema(value));
    expect(refused.path).toBe(path);
    expect(refused.reason).toContain(reason);
  });

  it.each([
    [{ type: 'integer', minimum: 3, maximum: 2 }],
    [{ type: 'object', properties: { self: { $ref: '#' } }, required: ['self'] }],
    [{ type: 'object', properties: { a: false }, required: ['a'] }],
    [{ allOf: [{ type: 'string' }, { type: 'null' }] }],
  ])('refuses %j, which nothing satisfies', (value) => {
    expect(refusal(schema(value)).reason).toBe('Nothing can satisfy it.');
  });

  it.each([
    ['(a', 'Unterminated group'],
    ['a(?=b)', 'looking around'],
    ['(a)\\1', 'is not supported'],
    ['a\\b', 'looking around'],
    ['(?i:a)', 'modifiers'],
    ['a{1,99999}', 'repetitions'],
  ])('refuses the expression %s', (pattern, reason) => {
    expect(refusal(regex(pattern))).toMatchObject({
      path: 'pattern',
      reason: expect.stringContaining(reason),
    });
  });

  it.each([
    ['start ::= "a"', 'no rule "root"'],
    ['root ::= other', 'not defined, in line 1, column 10'],
    ['root ::= "a\nb"', 'does not end, in line 1, column 10'],
    ['root ::= ("a" | "b"', 'not closed'],
    ['root ::= [z-a]', 'before its start'],
    ['root ::= "a"\nroot ::= "b"', 'defined twice, in line 2, column 1'],
    ['root ::= "a" ?? )', 'not understood'],
    ['root ::= "a" root', 'Nothing can satisfy'],
  ])('refuses the grammar %s', (text, reason) => {
    expect(refusal(grammar(text)).reason).toContain(reason);
  });

  it('refuses tags that their triggers do not tell apart', () => {
    const tag = { begin: '<a>', end: '</a>', schema: true };
    const tagged = (triggers: string[], tags = [tag]) => refusal({ type: 'structural_tag', triggers, tags });
    expect(tagged(['<b']).path).toBe('triggers.0');
    expect(tagged(['<', '<a']).path).toBe('triggers.1');
    expect(tagged(['<a'], [tag, { ...tag, begin: '[b]' }]).path).toBe('tags.1.begin');
    expect(tagged(['<a'], [{ ...tag, schema: { not: {} } } as never]).path).toBe('tags.0.schema.not');
  });

  it('bounds what it compiles', () => {
    const deep = Array.from({ length: 80 }).reduce<object>((inner) => ({ type: 'array', items: inner }), {
      type: 'null',
    });
    expect(refusal(schema(deep as Record<string, unknown>)).reason).toContain('deeper');
    const wide = Object.fromEntries(
      Array.from({ length: 3000 }, (_unused, index) => [`k${index}`, { const: index }]),
    );
    expect(refusal(schema({ properties: wide })).reason).toContain('too large');
    expect(refusal({ type: 'choice', choices: ['x'.repeat(300_000)] }).reason).toContain('longer');
  });
});

describe('what is too long', () => {
  const long = 65_536;

  it.each([
    ['a regular expression', { type: 'regex', pattern: 'a'.repeat(long + 1) }, 'pattern'],
    ['a grammar', { type: 'grammar', grammar: `root ::= "${'a'.repeat(long)}"` }, 'grammar'],
  ] as const)('is refused: %s', (_what, constraint, field) => {
    expect(() => constraintGrammar(constraint)).toThrow(
      expect.objectContaining({ reason: expect.stringContaining('the maximum is 65536'), path: [field] }),
    );
  });

  it('begins where reading is still safe', () => {
    const options = Array.from({ length: long / 4 - 2 }, () => '"a"').join('|');
    expect(() => prepareGrammar(larkGrammar(`start: ${options}`))).not.toThrow();
    expect(() => constraintGrammar({ type: 'regex', pattern: '[ab]'.repeat(long / 4) })).not.toThrow(
      RangeError,
    );
  });
});

describe('the path of an error in the request', () => {
  const schema = { properties: { a: { type: 'strin' } } };
  const tag = { begin: '<a>', end: '</a>' };
  const tags = (one: object) => ({ type: 'structural_tag', triggers: ['<a>'], tags: [{ ...tag, ...one }] });
  it.each([
    [{ type: 'json_schema', schema }, 'constraint.schema.properties.a.type'],
    [{ type: 'json_schema', schema, at: 'guided_json' }, 'guided_json.properties.a.type'],
    [{ type: 'regex', pattern: '(a', at: 'guided_regex' }, 'guided_regex'],
    [{ type: 'grammar', grammar: 'root ::= b', at: 'guided_grammar' }, 'guided_grammar'],
    [{ type: 'choice', choices: ['x'.repeat(300_000)], at: 'guided_choice' }, 'guided_choice'],
    [tags({ schema }), 'constraint.tags.0.schema.properties.a.type'],
    [{ ...tags({ schema }), at: 'response_format' }, 'response_format.tags.0.schema.properties.a.type'],
    [tags({ schema, at: 'tools[2].parameters' }), 'tools[2].parameters.properties.a.type'],
    [tags({ schema, at: 'tools[2].format.definition', derived: true }), 'tools[2].format.definition'],
    [tags({ lark: 'start: missing', at: 'tools[0].format.definition' }), 'tools[0].format.definition'],
  ] as [OutputConstraint, string][])('of %j is %s', (constraint, param) => {
    const message = expect.stringMatching(new RegExp(`^${param.replaceAll(/[.[\]]/g, '\\$&')}: `)) as string;
    expect(() => readConstraint(constraint)).toThrow(expect.objectContaining({ param, message }));
  });
});
