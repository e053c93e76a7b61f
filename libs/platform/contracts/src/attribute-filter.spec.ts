import { describe, expect, it } from 'vitest';
import { attributeFilterSchema, metadataFilterSchema } from './attribute-filter.js';
import { retrievalParametersSchema } from './services/retrieval.js';
import { parseOrThrow } from './validation.js';

const parse = (filter: unknown) => parseOrThrow(attributeFilterSchema, filter);
const paramOf = (filter: unknown) => {
  try {
    parse(filter);
  } catch (error) {
    return (error as { param: string | null }).param;
  }
  throw new Error('It was taken');
};

describe('attributeFilterSchema', () => {
  it.each([
    { type: 'eq', key: 'a', value: true },
    { type: 'in', key: 'a', value: ['x', 1] },
    { type: 'or', filters: [{ type: 'and', filters: [{ type: 'gte', key: 'a', value: 3 }] }] },
    { type: 'and', filters: [] },
  ])('takes %j', (filter) => {
    expect(parse(filter)).toEqual(filter);
  });

  it.each([
    [{ type: 'gt', key: 'a', value: true }, 'value'],
    [{ type: 'eq', key: 'a', value: ['x'] }, 'value'],
    [{ type: 'in', key: 'a', value: 'x' }, 'value'],
    [{ type: 'and', filters: [{ type: 'eq', key: 'a', value: null }] }, 'filters[0].value'],
    [{ type: 'and', filters: [], more: 1 }, 'more'],
    ['x', null],
  ])('refuses %j at %s', (filter, param) => {
    expect(paramOf(filter)).toBe(param);
  });

  it('has limits of depth and size', () => {
    let deep: unknown = { type: 'eq', key: 'a', value: 1 };
    for (let level = 0; level < 5_000; level += 1) deep = { type: 'and', filters: [deep] };
    expect(() => parse(deep)).toThrow(/nested deeper than 8/);
    const many = Array.from({ length: 200 }, () => ({ type: 'eq', key: 'a', value: 1 }));
    const wide = { type: 'or', filters: [0, 1].map(() => ({ type: 'or', filters: many })) };
    expect(() => parse(wide)).toThrow(/more than 256/);
  });
});

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
