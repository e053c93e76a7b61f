import { describe, expect, it } from 'vitest';
import { templateVariablesSchema } from './template-variables.js';

const issueOf = (given: unknown) => templateVariablesSchema.safeParse(given).error?.issues[0];

describe('templateVariablesSchema', () => {
  it('takes scalars', () => {
    const given = { enable_thinking: false, reasoning_effort: 'low', budget: 3, date: null };
    expect(templateVariablesSchema.parse(given)).toEqual(given);
  });

  it.each(['chat_template', 'tools', 'documents', 'messages', 'tokenizer_kwargs', 'bos_token', '__proto__x'])(
    'refuses %s, which the server sets itself',
    (name) => {
      expect(issueOf({ [name]: 'x' })).toMatchObject({ path: [name], message: 'is set by the server' });
    },
  );

  it('refuses lists, objects, long texts and names that are no variables', () => {
    expect(issueOf({ a: [1] })?.path).toEqual(['a']);
    expect(issueOf({ a: {} })?.path).toEqual(['a']);
    expect(issueOf({ a: 'x'.repeat(1025) })?.path).toEqual(['a']);
    expect(issueOf({ 'a b': 1 })?.path).toEqual(['a b']);
    expect(issueOf(Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`a${i}`, i])))?.path).toEqual([]);
  });
});
