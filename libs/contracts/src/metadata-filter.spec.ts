import { describe, expect, it } from 'vitest';
import { metadataFilterSchema } from './metadata-filter.js';
import { retrievalParametersSchema } from './services/retrieval.js';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const passes = (filter: unknown) => metadataFilterSchema.safeParse(filter).success;

describe('metadataFilterSchema', () => {
  it('takes scalars and lists of them', () => {
    expect(passes({ team: 'blue', year: [2025, 2026], draft: false })).toBe(true);
    expect(passes({ year: numbers(1_000) })).toBe(true);
  });

  it.each([
    ['more values than 1,000 in a list', { year: numbers(1_001) }],
    ['more values than 1,000 over all keys', { a: numbers(600), b: numbers(600) }],
    ['more keys than 16', Object.fromEntries(numbers(17).map((index) => [`k${index}`, 1]))],
    ['nested values', { team: { name: 'blue' } }],
    ['null', { team: null }],
    ['lists in lists', { team: [['blue']] }],
    ['long strings', { team: 'x'.repeat(513) }],
    ['long keys', { ['x'.repeat(65)]: 1 }],
  ])('refuses %s', (_case, filter) => {
    expect(passes(filter)).toBe(false);
  });

  it('bounds the filter of a search', () => {
    expect(retrievalParametersSchema.safeParse({ filter: { year: numbers(4_000) } }).success).toBe(false);
  });
});
