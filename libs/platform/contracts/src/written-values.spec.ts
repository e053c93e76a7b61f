import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseOrThrow } from './validation.js';

const schema = z.looseObject({
  stream: z.boolean().optional(),
  k: z.int().min(1).optional(),
  temperature: z.number().nullish(),
  always: z.literal(true).optional(),
  stop: z.union([z.string(), z.array(z.string())]).optional(),
  input: z.union([z.string(), z.array(z.string()), z.array(z.int())]).optional(),
  limit: z
    .union([z.object({ type: z.literal('words'), words: z.int() }), z.object({ type: z.literal('all') })])
    .optional(),
  documents: z.array(z.looseObject({ text: z.string(), score: z.number().optional() })).optional(),
});

describe('texts in place of numbers and booleans', () => {
  it.each([
    [{ stream: 'true' }, { stream: true }],
    [
      { stream: 'False', k: '4' },
      { stream: false, k: 4 },
    ],
    [{ stream: 'on' }, { stream: true }],
    [{ stream: 0 }, { stream: false }],
    [{ temperature: ' 0.01 ' }, { temperature: 0.01 }],
    [
      { temperature: '1e-2', k: '4.0' },
      { temperature: 0.01, k: 4 },
    ],
    [{ always: 'true' }, { always: true }],
    [{ limit: { type: 'words', words: '30' } }, { limit: { type: 'words', words: 30 } }],
    [{ documents: [{ text: '1', score: '0.5' }] }, { documents: [{ text: '1', score: 0.5 }] }],
    // Where a text is valid it stays a text.
    [
      { stop: '4', other: '5', k: '6' },
      { stop: '4', other: '5', k: 6 },
    ],
  ])('are read in %j', (given, expected) => {
    const before = structuredClone(given);
    expect(parseOrThrow(schema, given)).toEqual(expected);
    expect(given).toEqual(before);
  });

  it.each([
    [{ stream: 'maybe' }, 'stream'],
    [{ stream: 2 }, 'stream'],
    [{ k: '' }, 'k'],
    [{ k: '0x10' }, 'k'],
    [{ k: '4.5' }, 'k'],
    [{ k: '0' }, 'k'],
    [{ temperature: 'NaN' }, 'temperature'],
    [{ k: '4', temperature: 'hot' }, 'temperature'],
    [{ always: 'false' }, 'always'],
    // A list of texts is not a list of tokens.
    [{ input: ['1', 2] }, 'input[1]'],
    [{ documents: [{ text: 5 }] }, 'documents[0].text'],
  ])('are refused in %j', (given, param) => {
    expect(() => parseOrThrow(schema, given)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        param,
      }),
    );
  });

  it('reads thousands of fields in one pass', () => {
    const documents = Array.from({ length: 50_000 }, (_, index) => ({ text: 'x', score: `${index}` }));
    expect(parseOrThrow(schema, { documents }).documents?.at(-1)).toEqual({ text: 'x', score: 49_999 });
  });
});

describe('null in place of nothing', () => {
  it.each([
    [{ stream: null, k: 4 }, { k: 4 }],
    [{ stop: null }, {}],
    [{ temperature: null }, { temperature: null }],
    [{ limit: null, documents: [{ text: 'a', score: null }] }, { documents: [{ text: 'a' }] }],
    [{ limit: { type: 'all', words: null } }, { limit: { type: 'all' } }],
    [{ stream: null, k: '4' }, { k: 4 }],
    [{ other: null }, { other: null }],
  ])('is left out of %j', (given, expected) => {
    const before = structuredClone(given);
    expect(parseOrThrow(schema, given)).toEqual(expected);
    expect(given).toEqual(before);
  });

  it.each([
    [{ documents: [{ text: null }] }, 'documents[0].text'],
    [{ documents: [null] }, 'documents[0]'],
    [{ input: ['a', null] }, 'input[1]'],
    [{ stream: null, k: 'x' }, 'k'],
  ])('is refused in %j', (given, param) => {
    expect(() => parseOrThrow(schema, given)).toThrow(
      expect.objectContaining({ code: 'invalid_request', param }),
    );
  });

  it('does not count as a field of a strict object', () => {
    const strict = z.strictObject({ query: z.string(), rewrite: z.boolean().default(false) });
    expect(parseOrThrow(strict, { query: 'a', rewrite: null })).toEqual({ query: 'a', rewrite: false });
  });
});
