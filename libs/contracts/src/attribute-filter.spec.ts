import { describe, expect, it } from 'vitest';
import { attributeFilterSchema } from './attribute-filter.js';
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
