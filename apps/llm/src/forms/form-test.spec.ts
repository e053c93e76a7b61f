import { describe, expect, it } from 'vitest';
import { formTest, type TextForm } from './form-test.js';

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

describe('formTest', () => {
  it.each<[TextForm, string, string]>([
    [{ type: 'json_object' }, '{"a": 1}', '[1]'],
    [{ type: 'json_schema', schema: city }, '{"city":"Rome","x":1}', '{"city":1}'],
    [
      { type: 'json_schema', schema: { ...city, additionalProperties: false } },
      '{"city":""}',
      '{"city":"","x":1}',
    ],
    [{ type: 'json_schema', schema: true }, '1', 'one'],
    [{ type: 'json_schema', schema: { type: 'string', format: 'date' } }, '"2026-11-22"', '"today"'],
    [{ type: 'json_schema', schema: { prefixItems: [{ type: 'string' }] } }, '["a"]', '[1]'],
    [
      {
        type: 'json_schema',
        schema: { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] },
      },
      '["a"]',
      '[1]',
    ],
    [{ type: 'choice', choices: ['yes', 'no'] }, 'yes', 'yes!'],
    [{ type: 'regex', pattern: '[a-c]{2}\\d+' }, 'ab12', 'ab'],
    [{ type: 'grammar', grammar: 'root ::= "a" root | "b"' }, 'aaab', 'aaa'],
    [{ type: 'lark', lark: 'start: "a" start | "b"' }, 'aaab', 'aaa'],
  ])('of %j takes %s and not %s', (form, right, wrong) => {
    const test = formTest(form);
    expect(test(right)).toBeUndefined();
    expect(test(wrong)).toEqual(expect.any(String));
  });

  it('says what is wrong, and where', () => {
    expect(formTest({ type: 'json_object' })('Sure: {}')).toBe('"Sure: {}" is not JSON');
    expect(formTest({ type: 'json_schema', schema: city })('{"city":1}')).toBe('"/city" must be string');
  });

  it.each<[TextForm, string]>([
    [{ type: 'json_schema', schema: { type: 'text' } }, 'constraint.schema'],
    [{ type: 'json_schema', schema: { $ref: 'https://example.org/a' } }, 'constraint.schema'],
    [{ type: 'regex', pattern: '(a' }, 'constraint.pattern'],
    [{ type: 'lark', lark: 'start: missing' }, 'constraint.lark'],
    [{ type: 'choice', choices: ['a'.repeat(300_000)] }, 'constraint'],
  ])('refuses a form that cannot be checked: %#', (form, param) => {
    expect(() => formTest(form)).toThrow(expect.objectContaining({ code: 'invalid_request', param }));
  });
});
