import { DocumentsRepository, type ChunkHit, type NewChunk } from '#platform/storage';
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
    await storage.documents.indexer.settled();
  });

  afterAll(() => storage?.stop());

  /** How often indexes of vectors were read so far, from the database's own statistics, and how many there are. */
  async function readCounters(): Promise<{ scans: number; indexes: number }> {
    await storage.database.transaction((transaction) =>
      transaction.query('SELECT pg_stat_force_next_flush()'),
    );
    const [row] = await storage.database.transaction((transaction) =>
      transaction.query<{ scans: string; indexes: string }>(
        `SELECT coalesce(sum(idx_scan), 0) AS scans, count(*) AS indexes
         FROM pg_stat_user_indexes WHERE indexrelname LIKE 'chunks\\_hnsw\\_%'`,
      ),
    );
    return { scans: Number(row?.scans), indexes: Number(row?.indexes) };
  }

  const indexScans = async () => (await readCounters()).scans;

  /** How often anything was looked for through an index while `work` ran. */
  async function scansDuring(work: () => Promise<unknown>): Promise<number> {
    const before = await indexScans();
    await work();
    return (await indexScans()) - before;
  }

  /** How often the index of metadata was read so far, and how many chunks by scans of the whole table. */
  async function readPlan(): Promise<{ byMetadata: number; scanned: number }> {
    await indexScans();
    const [row] = await storage.database.transaction((transaction) =>
      transaction.query<{ scans: string; scanned: string }>(
        `SELECT idx_scan AS scans, (SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'chunks') AS scanned
         FROM pg_stat_user_indexes WHERE indexrelname = 'chunks_metadata'`,
      ),
    );
    return { byMetadata: Number(row?.scans), scanned: Number(row?.scanned) };
  }

  async function recall(
    k: number,
    filter?: { bucket: number | number[] },
  ): Promise<{ recall: number; short: number }> {
    let [found, short] = [0, 0];
    for (const query of queries) {
      const hits = await storage.chunks.search(search({ embedding: query, k, filter }));
      if (hits.length < k) short += 1;
      const truth = new Set(
        exactNearest(query, k, (index) => !filter || [filter.bucket].flat().includes(index % buckets)),
      );
      found += hits.filter((hit) => truth.has(indexOf(hit))).length;
      expect(hits.map((hit) => hit.score)).toEqual(hits.map((hit) => hit.score).toSorted((a, b) => b - a));
    }
    return { recall: found / (queries.length * k), short };
  }

  it('finds at least 97% of the ten nearest, through the index', async () => {
    const { scans, indexes } = await readCounters();
    expect(indexes).toBeGreaterThanOrEqual(1);
    const result = await recall(10);
    expect(result.short).toBe(0);
    expect(result.recall).toBeGreaterThanOrEqual(0.97);
    expect((await indexScans()) - scans).toBe(queries.length * indexes);
  });

  it('is exact under a filter that keeps 2% of the rows', async () => {
    const scans = await scansDuring(async () => {
      expect(await recall(10, { bucket: 7 })).toEqual({ recall: 1, short: 0 });
    });
    // So few are compared one by one: the index would have to pass over all others.
    expect(scans).toBe(0);
  });

  it('finds few chunks by the index of their metadata, and reads none but them', async () => {
    const before = await readPlan();
    await storage.chunks.search(search({ embedding: queries[0], k: 10, filter: { bucket: 9 } }));
    const after = await readPlan();
    // They are counted, then compared; a value is looked for alone and in lists.
    expect(after.byMetadata - before.byMetadata).toBe(4);
    expect(after.scanned).toBe(before.scanned);
  });

  it('looks through the indexes for the half of the rows that a filter keeps', async () => {
    const { indexes } = await readCounters();
    const filter = { bucket: Array.from({ length: buckets / 2 }, (_unused, index) => 2 * index) };
    const scans = await scansDuring(async () => {
      const result = await recall(10, filter);
      expect(result.short).toBe(0);
      expect(result.recall).toBeGreaterThanOrEqual(0.97);
    });
    expect(scans).toBe(queries.length * indexes);
  });

  it('is exact under a filter that fits documents of one index alone', async () => {
    const last = await storage.documents.list({ search: `part ${count - 1_000}` });
    const filter = { document_id: last[0]!.id };
    for (const query of queries.slice(0, 5)) {
      const hits = await storage.chunks.search(search({ embedding: query, k: 10, filter }));
      const wanted = exactNearest(query, 10, (index) => Math.floor(index / 500) * 500 === count - 1_000);
      expect(hits.map(indexOf)).toEqual(wanted);
    }
  });

  it('finds what came after the indexes, and no longer what was deleted', async () => {
    const [query] = queries;
    await storage.documents.replaceDocument(document('late'), [{ text: 'late', embedding: query! }]);
    const [first] = await storage.chunks.search(search({ embedding: query, k: 3 }));
    expect(first?.text).toBe('late');
    await storage.documents.deleteByFilename('late');
    const hits = await storage.chunks.search(search({ embedding: query, k: 3 }));
    expect(hits.map(indexOf)).toEqual(exactNearest(query!, 3, () => true));
  });

  it('compares a small collection beside the large one by itself', async () => {
    const chunks = vectors.slice(0, 300).map((embedding, index) => ({ text: String(index), embedding }));
    await storage.documents.replaceDocument({ ...document('small'), collection: "o'neill\\s" }, chunks);
    const scans = await scansDuring(async () => {
      const hits = await storage.chunks.search(
        search({ embedding: queries[2], k: 10, collection: "o'neill\\s" }),
      );
      expect(hits.map(indexOf)).toEqual(exactNearest(queries[2]!, 10, (index) => index < 300));
    });
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

/** Chunks of a collection that are compared one by one: on the embedded Postgres, and on a server. */
const unindexed = process.env.DATABASE_URL ? 5_000 : 2_000;

describe('the vector indexes of a collection that grows', () => {
  let storage: StorageFixture;
  beforeAll(async () => {
    storage = await startStorage();
  });
  afterAll(() => storage?.stop());

  const chunksOf = (length: number, width = 3) =>
    Array.from({ length }, (_unused, index) => ({
      text: `chunk ${index}`,
      embedding: unit(new Float32Array(width).map(gaussian)),
    }));

  async function store(collection: string, filename: string, chunks: NewChunk[]): Promise<void> {
    await storage.documents.replaceDocument({ ...document(filename), collection }, chunks);
    await storage.documents.indexer.settled();
  }

  /** Stores as a process that dies before it builds an index. */
  async function storeAndDie(collection: string, chunks: NewChunk[]): Promise<void> {
    const documents = new DocumentsRepository(storage.database);
    documents.indexer.stop();
    await documents.replaceDocument({ ...document('first'), collection }, chunks);
  }

  /** Names of the vector indexes; those of `collection`, where one is given. */
  async function indexesOf(collection?: string): Promise<{ name: string; definition: string }[]> {
    const rows = await storage.database.transaction((transaction) =>
      transaction.query<{ name: string; definition: string }>(
        `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
         WHERE indexname LIKE 'chunks\\_hnsw\\_%' ORDER BY 1`,
      ),
    );
    return rows.filter(({ definition }) => !collection || definition.includes(`'${collection}'`));
  }

  it('are built once more chunks came than are compared one by one', async () => {
    await store('growing', 'first', chunksOf(unindexed - 600));
    expect(await indexesOf('growing')).toEqual([]);
    await store('growing', 'second', chunksOf(700));
    expect(await indexesOf('growing')).toHaveLength(1);
    // What others hold does not count.
    await store('other', 'first', chunksOf(700));
    expect(await indexesOf('other')).toEqual([]);
  });

  it('cover ranges that follow each other, so that a chunk is in one of them', async () => {
    await store('in ranges', 'first', chunksOf(unindexed));
    await store('in ranges', 'second', chunksOf(unindexed));
    const [one, two, ...others] = await indexesOf('in ranges');
    expect(others).toEqual([]);
    const [counts] = await storage.database.transaction((transaction) =>
      transaction.query(
        `SELECT (SELECT reltuples FROM pg_class WHERE relname = $1) AS one, (SELECT reltuples FROM pg_class WHERE relname = $2) AS two`,
        [one!.name, two!.name],
      ),
    );
    expect(counts).toEqual({ one: unindexed, two: unindexed });
  });

  it('tell chunks apart that are alike in half precision', async () => {
    const query = unit(new Float32Array(16).map(gaussian));
    const others = chunksOf(unindexed, 16);
    const [aside] = others;
    const alike = [3, 9, 0, 6, 11, 1, 8, 4, 10, 2, 7, 5].map((nearer) => ({
      text: `nearer by ${nearer}`,
      embedding: aside!.embedding.map((value, at) => value + query[at]! * (3 + nearer * 1e-4)),
    }));
    await store('alike', 'first', [...alike, ...others]);
    expect(await indexesOf('alike')).toHaveLength(1);
    const hits = await storage.chunks.search(search({ embedding: query, k: 3, collection: 'alike' }));
    expect(hits.map(({ text }) => text)).toEqual(['nearer by 11', 'nearer by 10', 'nearer by 9']);
  });

  it('are built after a restart where a process died before', async () => {
    const later = new DocumentsRepository(storage.database);
    await storeAndDie('after a crash', chunksOf(unindexed));
    expect(await indexesOf('after a crash')).toEqual([]);
    await later.indexer.catchUp();
    await later.indexer.settled();
    expect(await indexesOf('after a crash')).toHaveLength(1);
  });

  it('are built once where two processes see the need, and hide no chunk meanwhile', async () => {
    const chunks = chunksOf(unindexed);
    await storeAndDie('in two', chunks);
    expect(await indexesOf('in two')).toEqual([]);
    const query = search({ embedding: chunks[7]!.embedding, k: 1, collection: 'in two' });
    const processes = [new DocumentsRepository(storage.database), new DocumentsRepository(storage.database)];
    const work = { isOver: false };
    const building = Promise.all(
      processes.map(async ({ indexer }) => {
        await indexer.catchUp();
        await indexer.settled();
      }),
    ).finally(() => (work.isOver = true));
    while (!work.isOver) {
      const [hit] = await storage.chunks.search(query);
      expect(hit?.score).toBeCloseTo(1, 5);
    }
    await building;
    expect(await indexesOf('in two')).toHaveLength(1);
  });

  it('go with their collection', async () => {
    const documents = new DocumentsRepository(storage.database);
    expect(await indexesOf('growing')).toHaveLength(1);
    await documents.deleteAll('growing');
    await documents.indexer.catchUp();
    expect(await indexesOf('growing')).toEqual([]);
    expect(await indexesOf('in ranges')).toHaveLength(2);
  });

  it('are built again where building one was interrupted', async () => {
    const documents = new DocumentsRepository(storage.database);
    const [one, two] = await indexesOf('in ranges');
    await storage.database.transaction((transaction) =>
      transaction.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = $1::regclass`, [
        two!.name,
      ]),
    );
    const query = search({ embedding: vectors[0]!.slice(0, 3), k: 5, collection: 'in ranges' });
    expect(await storage.chunks.search(query)).toHaveLength(5);
    await documents.indexer.catchUp();
    await documents.indexer.settled();
    expect(await indexesOf('in ranges')).toEqual([one, two]);
    const [row] = await storage.database.transaction((transaction) =>
      transaction.query(`SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = $1::regclass`, [
        two!.name,
      ]),
    );
    expect(row).toEqual({ valid: true });
  });
});
