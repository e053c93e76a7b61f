import type { AttributeFilter, ComparisonFilter } from '#platform/contracts';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { document, search, startStorage, vector, type StorageFixture } from './storage-fixture.js';

type Attributes = Record<string, string | number | boolean>;

/** What a filter means, said plainly: the searches must agree with it. */
function passes(attributes: Attributes, filter: AttributeFilter): boolean {
  if ('filters' in filter)
    return filter.type === 'and'
      ? filter.filters.every((part) => passes(attributes, part))
      : filter.filters.some((part) => passes(attributes, part));
  return compare(Object.hasOwn(attributes, filter.key) ? attributes[filter.key] : undefined, filter);
}

function compare(actual: Attributes[string] | undefined, { type, value }: ComparisonFilter): boolean {
  if (type === 'eq') return actual === value;
  if (type === 'ne') return actual !== value;
  if (type === 'in') return value.some((one) => one === actual);
  if (type === 'nin') return value.every((one) => one !== actual);
  if (typeof actual !== typeof value) return false;
  const order =
    typeof actual === 'number'
      ? actual - Number(value)
      : Buffer.compare(Buffer.from(String(actual)), Buffer.from(String(value)));
  return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[type];
}

const key = fc.constantFrom('a', 'b', `c' OR true --`, 'ключ');
const text = fc.oneof(
  fc.constantFrom('', '1', 'true', 'B', 'a', 'é', '🙂', `'; --`),
  fc.string({ maxLength: 4 }),
);
const clean = text.filter((value) => !value.includes('\0'));
const number = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(0.1, 1e21, -2.5e-7),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const attributes = fc.dictionary(key, fc.oneof(clean, number, fc.boolean()), { maxKeys: 3 });
const comparison: fc.Arbitrary<ComparisonFilter> = fc.oneof(
  fc.record({ type: fc.constantFrom('eq', 'ne'), key, value: fc.oneof(clean, number, fc.boolean()) }),
  fc.record({ type: fc.constantFrom('gt', 'gte', 'lt', 'lte'), key, value: fc.oneof(clean, number) }),
  fc.record({
    type: fc.constantFrom('in', 'nin'),
    key,
    value: fc.array(fc.oneof(clean, number), { maxLength: 4 }),
  }),
);
const { filter } = fc.letrec<{ filter: AttributeFilter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    comparison,
    fc.record({ type: fc.constantFrom('and', 'or'), filters: fc.array(tie('filter'), { maxLength: 3 }) }),
  ),
}));

describe('searches by attributes', () => {
  let storage: StorageFixture;
  beforeAll(async () => {
    storage = await startStorage();
  });
  afterAll(() => storage?.stop());

  const namesFound = async (
    searchType: 'similarity' | 'lexical' | 'hybrid',
    attributeFilter: AttributeFilter,
  ) => {
    const wanted = {
      searchType,
      query: 'passage',
      embedding: vector(1, 0),
      k: 200,
      fetchK: 200,
      attributeFilter,
    };
    const hits = await storage.chunks.search(search(wanted));
    return hits.map(({ metadata }) => String(metadata['filename'])).toSorted();
  };

  it('mean what the filter says, in every kind of search', async () => {
    const stored = fc.sample(attributes, { numRuns: 40, seed: 7 });
    for (const [index, metadata] of stored.entries()) {
      const chunks = [{ text: `A passage ${index}.`, embedding: vector(1, index + 1) }];
      await storage.documents.replaceDocument({ ...document(`${index}`), metadata }, chunks);
    }
    const expected = (wanted: AttributeFilter) =>
      stored.flatMap((each, index) => (passes(each, wanted) ? [`${index}`] : [])).toSorted();
    await fc.assert(
      fc.asyncProperty(
        filter,
        fc.constantFrom('similarity', 'lexical', 'hybrid'),
        async (wanted, searchType) => {
          expect(await namesFound(searchType, wanted)).toEqual(expected(wanted));
        },
      ),
      { numRuns: 80, seed: 11 },
    );
  });
});
