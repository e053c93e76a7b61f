import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseOrThrow, safeParse } from './validation.js';

const item = z.looseObject({ name: z.string().optional(), count: z.number().optional() });
const schema = z.looseObject({
  items: z.union([z.string(), z.array(item).max(100_000, 'must have at most 100000 items')]),
  limit: z.int().optional(),
});

describe('parseOrThrow', () => {
  it('names the first of a million fields that do not match, and makes no issue of the others', () => {
    const numbers = Array.from({ length: 1_000_000 }, () => 1);
    const start = performance.now();
    expect(() => parseOrThrow(z.looseObject({ items: z.array(item) }), { items: numbers })).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'items[0]' }),
    );
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it('refuses a list that is too long by its length, also in a union', () => {
    const items = Array.from({ length: 100_001 }, () => ({}));
    expect(() => parseOrThrow(schema, { items })).toThrow('items: must have at most 100000 items');
  });

  it('reads the same written values in all elements of a long list, and in the fields after it', () => {
    const items = Array.from({ length: 3_000 }, (_unused, index) => ({ name: null, count: `${index}` }));
    const { items: read, limit } = parseOrThrow(schema, { items, limit: '4' });
    expect(read.at(-1)).toEqual({ count: 2_999 });
    expect(limit).toBe(4);
  });
});

describe('safeParse', () => {
  it('has all issues of a small value and one of a large one', () => {
    const list = z.array(z.string());
    expect(safeParse(list, [1, 2, 3]).error?.issues).toHaveLength(3);
    expect(safeParse(list, Array(5_000).fill(1)).error?.issues).toHaveLength(1);
  });
});
