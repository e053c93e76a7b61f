import { isDeepStrictEqual } from 'node:util';
import type { MetadataFilter } from '#platform/contracts';
import type { ChunkSearch } from '#platform/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { document, search, startStorage, vector, type StorageFixture } from './storage-fixture.js';

const passages = [
  {
    text: 'The service /v1/list_service names every mega service.',
    embedding: vector(1, 0, 0),
    metadata: { topic: 'api', tags: ['opea', 'list'] },
  },
  {
    text: 'Cats sleep for sixteen hours of every day.',
    embedding: vector(0.9, 0.1, 0),
    metadata: { topic: 'animals', tags: ['cat'] },
  },
  {
    text: 'Dogs run every day, and cats watch the dogs.',
    embedding: vector(0.9, 0.12, 0),
    metadata: { topic: 'animals', tags: ['cat', 'dog'] },
  },
  {
    text: 'Node.js runs JavaScript.',
    embedding: vector(0, 0, 1),
    metadata: { topic: 'runtime', title: 'About zebras' },
  },
];

describe('ChunksRepository', () => {
  let storage: StorageFixture;
  const find = async (changes: Partial<ChunkSearch>) => {
    const hits = await storage.chunks.search(search({ embedding: vector(1, 0, 0), ...changes }));
    return hits.map(({ text }) => passages.findIndex((passage) => passage.text === text));
  };

  beforeAll(async () => {
    storage = await startStorage();
    await storage.documents.replaceDocument(document('passages.txt'), passages);
    await storage.documents.replaceDocument({ ...document('else.txt'), collection: 'elsewhere' }, [
      { text: 'Cats, cats, cats.', embedding: vector(1, 0, 0) },
    ]);
  });

  afterAll(() => storage?.stop());

  it('leaves few words of new chunks outside the index, since each term of a search reads them', async () => {
    const many = Array.from({ length: 400 }, (_, index) => ({
      text: Array.from({ length: 60 }, (_word, word) => `word${index}x${word}`).join(' '),
      embedding: vector(1, 0, 0),
    }));
    await storage.documents.replaceDocument({ ...document('many.txt'), collection: 'many' }, many);
    const [list] = await storage.database.query<{ pages: number }>(
      "SELECT gin_clean_pending_list('chunks_search')::integer AS pages",
    );
    // 64 kB, and the chunks of the statement that fills it.
    expect(list?.pages).toBeLessThanOrEqual(16);
  });

  it('finds for queries that arrive together what each finds alone', async () => {
    const searches = ['cats', 'every day', 'JavaScript of Node.js'].map((query, index) =>
      search({ searchType: 'hybrid', query, embedding: vector(1, index, 0) }),
    );
    const findAlone = async () => {
      const found = [];
      for (const each of searches) found.push(await storage.chunks.search(each));
      return found;
    };
    const best = (await findAlone()).map(([first]) => first?.text);
    // Two passages have the words of the first two queries.
    const aboutCats = [passages[1]!.text, passages[2]!.text];
    expect(aboutCats).toEqual(expect.arrayContaining(best.slice(0, 2)));
    expect(best[2]).toBe(passages[3]!.text);
    // The words of the collection are counted in the background, which may change scores between two searches.
    const areEqual = async () => {
      const together = await Promise.all(searches.map((each) => storage.chunks.search(each)));
      return isDeepStrictEqual(together, await findAlone());
    };
    await expect.poll(areEqual).toBe(true);
  });

  it('refuses one of the queries that arrive together', async () => {
    const embedding = vector(0, 0, 0);
    const [found, refused] = await Promise.allSettled([
      storage.chunks.search(search({ embedding: vector(1, 0, 0) })),
      storage.chunks.search(search({ embedding })),
    ]);
    expect(found).toMatchObject({ status: 'fulfilled', value: { length: 4 } });
    expect(refused).toMatchObject({ status: 'rejected', reason: { param: 'embedding' } });
  });

  it('finds by similarity, nearest first, scores falling', async () => {
    expect(await find({ k: 4 })).toEqual([0, 1, 2, 3]);
    const hits = await storage.chunks.search(search({ embedding: vector(2, 0, 0), k: 2 }));
    expect(hits[0]?.score).toBeCloseTo(1, 5);
    expect(hits[1]?.score).toBeCloseTo(0.9939, 3);
    expect(Object.keys(hits[0] ?? {}).toSorted()).toEqual(['id', 'metadata', 'score', 'similarity', 'text']);
  });

  it('cuts by score and by distance', async () => {
    expect(await find({ searchType: 'similarity_score_threshold', scoreThreshold: 0.992 })).toEqual([0, 1]);
    expect(await find({ searchType: 'similarity_distance_threshold', distanceThreshold: 0.008 })).toEqual([
      0, 1,
    ]);
    expect(await find({ searchType: 'similarity_distance_threshold', distanceThreshold: 0 })).toEqual([0]);
    await expect(find({ searchType: 'similarity_distance_threshold' })).rejects.toMatchObject({
      param: 'distance_threshold',
    });
  });

  it('prefers variety with mmr, relevance with lambda 1', async () => {
    expect(await find({ searchType: 'mmr', k: 2, lambdaMult: 0 })).toEqual([0, 3]);
    expect(await find({ searchType: 'mmr', k: 3, lambdaMult: 1 })).toEqual([0, 1, 2]);
    expect(await find({ searchType: 'mmr', k: 2, fetchK: 2, lambdaMult: 0 })).toEqual([0, 1]);
  });

  it('finds by words: any of them, stemmed, the rare ones first', async () => {
    const lexical = (query: string) => find({ searchType: 'lexical', query, embedding: undefined });
    expect(await lexical('What does list_service do for a sleeping cat?')).toEqual([0, 1, 2]);
    expect(await lexical('running javascript')).toEqual([3, 2]);
    expect(await lexical('node')).toEqual([3]);
    expect(await lexical('zebra')).toEqual([3]);
    expect(await lexical('who is it')).toEqual([]);
    expect(
      await lexical(`${Array.from({ length: 5_000 }, (_unused, index) => `word${index}`).join(' ')} node`),
    ).toEqual([]);
    expect(await lexical(`node ${'and so on '.repeat(5_000)}`)).toEqual([3]);
    expect(await lexical('')).toEqual([]);
    expect(await lexical(`'); DROP TABLE chunks; -- & | ! ( <-> :* \\`)).toEqual([]);
  });

  it('fuses both rankings', async () => {
    const hybrid = { searchType: 'hybrid', query: 'javascript', k: 2 } as const;
    expect(await find(hybrid)).toEqual([3, 0]);
    const weighted = (method: 'rrf' | 'scores', similarityWeight: number) =>
      find({ ...hybrid, fusion: { method, similarityWeight, rankConstant: 60 } });
    expect(await weighted('rrf', 100)).toEqual([0, 1]);
    expect(await weighted('scores', 0.5)).toEqual([3, 0]);
    expect(await weighted('scores', 100)).toEqual([0, 1]);
  });

  it.each(['similarity', 'mmr', 'lexical', 'hybrid'] as const)('filters in %s', async (searchType) => {
    const found = (filter: MetadataFilter) =>
      find({ searchType, query: 'every day cats node', filter }).then((indexes) =>
        indexes.toSorted((a, b) => a - b),
      );
    expect(await found({ topic: 'animals' })).toEqual([1, 2]);
    expect(await found({ topic: ['api', 'runtime'] })).toEqual([0, 3]);
    expect(await found({ tags: 'dog' })).toEqual([2]);
    expect(await found({ tags: ['dog', 'list'], topic: 'animals' })).toEqual([2]);
    expect(await found({ topic: [] })).toEqual([]);
    expect(await found({ "topic' OR true --": 'api' })).toEqual([]);
    expect(await found({ filename: 'passages.txt', chunk_index: 1 })).toEqual([1]);
  });

  it('means the same with many values', async () => {
    const many = (...values: (string | number)[]) => [
      ...Array.from({ length: 20 }, (_, index) => index + 100),
      ...values,
    ];
    const found = async (filter: MetadataFilter) => (await find({ k: 9, filter })).toSorted((a, b) => a - b);
    expect(await found({ topic: many('animals', 'api') })).toEqual([0, 1, 2]);
    expect(await found({ tags: many('dog', 'list'), topic: many('animals') })).toEqual([2]);
    expect(await found({ chunk_index: many(1, 3) })).toEqual([1, 3]);
    expect(await found({ chunk_index: many('1'), "topic' OR true --": many('api') })).toEqual([]);
    expect(await found({ topic: many() })).toEqual([]);
  });

  it('costs about the same with a thousand values', async () => {
    const passages = Array.from({ length: 1_000 }, (_unused, number) => ({
      text: `Passage ${number}.`,
      embedding: vector(1, number / 1_000, 0),
      metadata: { number },
    }));
    const collection = 'thousand';
    await storage.documents.replaceDocument({ ...document('thousand.txt'), collection }, passages);
    const timed = async (values: number) => {
      const number = Array.from({ length: values }, (_unused, index) => index - values + 1);
      const startedAt = performance.now();
      const hits = await storage.chunks.search(
        search({ collection, embedding: vector(1, 0, 0), filter: { number } }),
      );
      expect(hits).toHaveLength(1);
      return performance.now() - startedAt;
    };
    const least = async (values: number) => {
      let time = Infinity;
      for (let round = 0; round < 5; round += 1) time = Math.min(time, await timed(values));
      return time;
    };
    const [few, many] = [await least(1), await least(1_000)];
    // One comparison for each value and chunk takes fifty times as long.
    expect(many / few).toBeLessThan(10);
  });

  it('keeps to one collection', async () => {
    expect(
      await storage.chunks.search(search({ collection: 'elsewhere', embedding: vector(1, 0, 0) })),
    ).toHaveLength(1);
    expect(
      await storage.chunks.search(search({ collection: 'unknown', embedding: vector(1, 0, 0) })),
    ).toEqual([]);
    const lexical = await storage.chunks.search(
      search({ collection: 'elsewhere', searchType: 'lexical', query: 'cat' }),
    );
    expect(lexical).toHaveLength(1);
  });

  it.each(['similarity', 'mmr', 'hybrid'] as const)('refuses unfit embeddings in %s', async (searchType) => {
    await expect(find({ searchType, embedding: undefined })).rejects.toMatchObject({ param: 'embedding' });
    await expect(find({ searchType, embedding: vector(1, 2) })).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'embedding',
      message: 'embedding: has 2 dimensions, but collection default holds vectors of 3 (test-model)',
    });
    await expect(find({ searchType, embedding: vector(0, 0, 0) })).rejects.toMatchObject({ status: 400 });
    await expect(find({ searchType, embedding: vector(1, NaN, 0) })).rejects.toMatchObject({ status: 400 });
  });
});

describe('a search by words of a large collection', () => {
  let storage: StorageFixture;
  beforeAll(async () => {
    storage = await startStorage();
    const chunks = Array.from({ length: 2_400 }, (_unused, index) => ({
      text: `common words ${index % 600 === 0 ? 'beside a rare one' : ''} number${index}`,
      embedding: vector(1, 0, index + 1),
    }));
    await storage.documents.replaceDocument(document('large.txt'), chunks);
    await storage.documents.replaceDocument(
      { ...document('else.txt'), collection: 'elsewhere' },
      chunks.slice(0, 700),
    );
    await storage.documents.indexer.settled();
  });
  afterAll(() => storage?.stop());

  const run = (statement: string) =>
    storage.database.transaction((transaction) => transaction.query<{ scans: string }>(statement));

  /** Finds, and counts how often the index of words was read. */
  async function find(collection: string) {
    const scans = async () => {
      await run('SELECT pg_stat_force_next_flush()');
      const [row] = await run(
        `SELECT idx_scan AS scans FROM pg_stat_user_indexes WHERE indexrelname = 'chunks_search'`,
      );
      return Number(row?.scans);
    };
    const before = await scans();
    const hits = await storage.chunks.search(
      search({ searchType: 'lexical', query: 'the common word of a rare number1200', k: 5, collection }),
    );
    return { hits: hits.map(({ text, score }) => ({ text, score })), scans: (await scans()) - before };
  }

  it('does not count words that were counted in the background', async () => {
    const before = await find('default');
    // The rare words have four chunks, so more are looked for; none is counted.
    expect(before.scans).toBe(2);
    expect(before.hits[0]?.text).toContain('number1200');
    expect(before.hits).toHaveLength(5);
    const elsewhere = await find('elsewhere');
    await run('DELETE FROM word_counts');
    const counted = await find('default');
    expect(counted.scans).toBeGreaterThan(2);
    expect(counted.hits.map(({ text }) => text)).toEqual(before.hits.map(({ text }) => text));
    expect(before.hits[0]?.score).toBeCloseTo(counted.hits[0]!.score, 0);
    await storage.documents.indexer.catchUp();
    await storage.documents.indexer.settled();
    expect(await find('default')).toEqual(before);
    expect(await find('elsewhere')).toEqual(elsewhere);
  });

  it('counts again what came since, and from the beginning where most of the chunks are gone', async () => {
    const counts = async () =>
      (await run('SELECT collection, chunks::integer FROM word_counts')) as unknown[];
    expect(await counts()).toEqual([{ collection: 'default', chunks: 2_400 }]);
    const chunks = Array.from({ length: 2_000 }, (_unused, index) => ({
      text: `more ${index}`,
      embedding: vector(1, 0, index),
    }));
    await storage.documents.replaceDocument(document('more.txt'), chunks);
    await storage.documents.indexer.settled();
    expect(await counts()).toEqual([{ collection: 'default', chunks: 4_400 }]);
    await storage.documents.deleteByFilename('large.txt');
    await storage.documents.deleteByFilename('more.txt');
    await storage.documents.indexer.catchUp();
    await storage.documents.indexer.settled();
    expect(await counts()).toEqual([]);
  });
});
