import type { ChunkHit } from '#storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { document, search, startStorage, type StorageFixture } from './storage-fixture.js';

const count = 5_000;
const dimensions = 64;
const clusters = 50;
/** A filter on one bucket keeps 2% of the rows, spread over all clusters. */
const buckets = 50;

/** Reproducible numbers in [0, 1): mulberry32. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const random = randomNumbers(11);
const gaussian = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

function unit(values: Float32Array): Float32Array {
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
}

function near(center: Float32Array, spread: number): Float32Array {
  return unit(center.map((value) => value + spread * gaussian()));
}

const centers = Array.from({ length: clusters }, () => unit(new Float32Array(dimensions).map(gaussian)));
const vectors = Array.from({ length: count }, () => near(centers[Math.floor(random() * clusters)]!, 0.08));
const queries = Array.from({ length: 40 }, () => near(centers[Math.floor(random() * clusters)]!, 0.08));

function exactNearest(query: Float32Array, k: number, accept: (index: number) => boolean): number[] {
  const scored = vectors.flatMap((vector, index) =>
    accept(index) ? [{ index, product: vector.reduce((sum, value, at) => sum + value * query[at]!, 0) }] : [],
  );
  return scored
    .sort((left, right) => right.product - left.product)
    .slice(0, k)
    .map(({ index }) => index);
}

const indexOf = (hit: ChunkHit) => Number(hit.text);

describe('the vector index', () => {
  let storage: StorageFixture;

  beforeAll(async () => {
    storage = await startStorage();
    for (let start = 0; start < count; start += 500) {
      const chunks = vectors.slice(start, start + 500).map((embedding, offset) => ({
        text: String(start + offset),
        embedding,
        metadata: { bucket: (start + offset) % buckets },
      }));
      await storage.documents.replaceDocument(document(`part ${start}`), chunks);
    }
  });

  afterAll(() => storage?.stop());

  /** How often the index was read so far, from the database's own statistics. */
  async function indexScans(): Promise<number> {
    await storage.database.transaction((transaction) =>
      transaction.query('SELECT pg_stat_force_next_flush()'),
    );
    const [row] = await storage.database.transaction((transaction) =>
      transaction.query<{ scans: string }>(
        `SELECT idx_scan AS scans FROM pg_stat_user_indexes WHERE indexrelname = 'chunks_embedding_${dimensions}'`,
      ),
    );
    return Number(row?.scans);
  }

  /** How often anything was looked for through the index while `work` ran. */
  async function scansDuring(work: () => Promise<unknown>): Promise<number> {
    const before = await indexScans();
    await work();
    return (await indexScans()) - before;
  }

  async function recall(k: number, filter?: { bucket: number }): Promise<{ recall: number; short: number }> {
    let [found, short] = [0, 0];
    for (const query of queries) {
      const hits = await storage.chunks.search(search({ embedding: query, k, filter }));
      if (hits.length < k) short += 1;
      const truth = new Set(exactNearest(query, k, (index) => !filter || index % buckets === filter.bucket));
      found += hits.filter((hit) => truth.has(indexOf(hit))).length;
      expect(hits.map((hit) => hit.score)).toEqual(hits.map((hit) => hit.score).toSorted((a, b) => b - a));
    }
    return { recall: found / (queries.length * k), short };
  }

  it('finds at least 97% of the ten nearest, through the index', async () => {
    const before = await indexScans();
    const result = await recall(10);
    expect(result.short).toBe(0);
    expect(result.recall).toBeGreaterThanOrEqual(0.97);
    expect((await indexScans()) - before).toBe(queries.length);
  });

  it('is exact under a filter that keeps 2% of the rows', async () => {
    const scans = await scansDuring(async () => {
      expect(await recall(10, { bucket: 7 })).toEqual({ recall: 1, short: 0 });
    });
    // So few are compared one by one: the index would have to pass over all others.
    expect(scans).toBe(0);
  });

  it('gives all rows there are where k asks for more', async () => {
    const hits = await storage.chunks.search(
      search({ embedding: queries[0], k: 150, filter: { bucket: 3 } }),
    );
    expect(hits).toHaveLength(count / buckets);
    expect(new Set(hits.map((hit) => hit.id)).size).toBe(hits.length);
  });

  it('gives k rows where a wide k meets the limits of the index', async () => {
    const hits = await storage.chunks.search(search({ embedding: queries[1], k: 1_500 }));
    expect(hits).toHaveLength(1_500);
  });

  it('indexes vectors of every width beside each other', async () => {
    const wide = new Float32Array(2_500).map(gaussian);
    const widest = new Float32Array(4_500).map(gaussian);
    await storage.documents.replaceDocument(document('wide'), [{ text: 'wide', embedding: wide }]);
    await storage.documents.replaceDocument(document('widest'), [{ text: 'widest', embedding: widest }]);
    for (const [text, embedding] of [
      ['wide', wide],
      ['widest', widest],
    ] as const) {
      const hits = await storage.chunks.search(search({ embedding, k: 2 }));
      expect(hits.map((hit) => hit.text)).toEqual([text]);
      expect(hits[0]?.score).toBeCloseTo(1, 3);
    }
  });
});

describe('the vector index of a database that grows', () => {
  let storage: StorageFixture;
  beforeAll(async () => {
    storage = await startStorage();
  });
  afterAll(() => storage?.stop());

  const chunksOf = (length: number, width: number) =>
    Array.from({ length }, (_unused, index) => ({
      text: `chunk ${index}`,
      embedding: unit(new Float32Array(width).map(gaussian)),
    }));

  async function isIndexed(width: number): Promise<boolean> {
    const found = await storage.database.transaction((transaction) =>
      transaction.query('SELECT FROM pg_indexes WHERE indexname = $1', [`chunks_embedding_${width}`]),
    );
    return found.length > 0;
  }

  it('is made once there are more chunks than are compared one by one', async () => {
    await storage.documents.replaceDocument(document('first'), chunksOf(1_990, 4));
    expect(await isIndexed(4)).toBe(false);
    for (let turn = 0; turn < 12; turn += 1)
      await storage.documents.replaceDocument(document(`small ${turn}`), chunksOf(10, 4));
    expect(await isIndexed(4)).toBe(true);
    expect(await isIndexed(3)).toBe(false);
  });

  it('is made while a very large document is written', async () => {
    const seen: boolean[] = [];
    async function* batches() {
      for (let turn = 0; turn < 6; turn += 1) {
        seen.push(await isIndexed(3));
        yield chunksOf(1_000, 3);
      }
      seen.push(await isIndexed(3));
    }
    await storage.documents.replaceDocument(document('large'), batches());
    expect(seen).toEqual([false, false, false, false, false, false, true]);
  });

  it('finds a chunk before and after', async () => {
    const [target] = chunksOf(1, 5);
    const few = [{ text: 'the target', embedding: target!.embedding }, ...chunksOf(1_000, 5)];
    const query = search({ searchType: 'similarity', embedding: target!.embedding, k: 1 });
    await storage.documents.replaceDocument(document('with the target'), few);
    expect(await storage.chunks.search(query)).toMatchObject([{ text: 'the target' }]);
    await storage.documents.replaceDocument(document('more'), chunksOf(1_500, 5));
    expect(await isIndexed(5)).toBe(true);
    expect(await storage.chunks.search(query)).toMatchObject([{ text: 'the target' }]);
  });
});
