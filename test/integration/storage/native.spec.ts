import {
  ChunksRepository,
  DocumentsRepository,
  openMigratedDatabase,
  type Database,
} from '#platform/storage';
import { findProgramsWithVector, startNativePostgres, type NativePostgres } from '#platform/testing';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { document, search } from './storage-fixture.js';

const found = findProgramsWithVector();

describe.skipIf('reason' in found)('an index that a Postgres server builds', () => {
  let postgres: NativePostgres;
  let database: Database;
  /** A transaction that has written a chunk: building an index waits for its end. */
  let writer: Client;

  beforeAll(async () => {
    postgres = await startNativePostgres('programs' in found ? found.programs : '');
    database = await openMigratedDatabase({ connectionString: postgres.url });
  });
  beforeEach(async () => {
    writer = new Client({ connectionString: postgres.url });
    await writer.connect();
    await writer.query('BEGIN; LOCK TABLE chunks IN ROW EXCLUSIVE MODE');
  });
  afterEach(() => writer.end());
  afterAll(async () => {
    await database?.close();
    await postgres?.stop();
  });

  /** Another direction for each. */
  const vectorOf = (index: number) =>
    new Float32Array(16).map((_unused, at) => Math.sin((index + 1) * (at + 1) * 78.233));

  async function* batchesOf(length: number) {
    for (let first = 0; first < length; first += 500)
      yield Array.from({ length: Math.min(500, length - first) }, (_unused, index) => ({
        text: `chunk ${first + index}`,
        embedding: vectorOf(first + index),
      }));
  }

  const store = (documents: DocumentsRepository, name: string, length: number) =>
    documents.replaceDocument({ ...document(name), collection: name }, batchesOf(length));

  /** Indexes of vectors, and whether searches read them. */
  async function indexes(): Promise<boolean[]> {
    const { rows } = await writer.query<{ valid: boolean }>(
      `SELECT indisvalid AS valid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
       WHERE starts_with(relname::text, 'chunks_hnsw_') ORDER BY 1`,
    );
    return rows.map(({ valid }) => valid);
  }

  it('lets writers, statistics, searches and other processes go on', async () => {
    const documents = new DocumentsRepository(database);
    await store(documents, 'large', 5_000);
    await expect.poll(indexes).toEqual([false]);
    // Words are not counted after an index that takes minutes, but before.
    expect((await writer.query('SELECT collection, chunks FROM word_counts')).rows).toEqual([
      { collection: 'large', chunks: '5000' },
    ]);
    // More than half as many again: the planner's statistics are due.
    expect(await store(documents, 'beside', 3_000)).toMatchObject({ outcome: 'added', chunks: 3_000 });
    const one = search({ embedding: vectorOf(6), k: 1, collection: 'large' });
    expect(await new ChunksRepository(database).search(one)).toMatchObject([{ text: 'chunk 6' }]);
    await new DocumentsRepository(database).indexer.catchUp();
    expect(await indexes()).toEqual([false]);
    await writer.query('COMMIT');
    await documents.indexer.settled();
    expect(await indexes()).toEqual([true]);
    expect(await new ChunksRepository(database).search(one)).toMatchObject([{ text: 'chunk 6' }]);
  });

  it('is finished by the server where the process ends', async () => {
    const documents = new DocumentsRepository(database);
    await store(documents, 'ends', 5_000);
    await expect.poll(indexes).toEqual([false, true]);
    documents.indexer.stop();
    await documents.indexer.settled();
    expect(await indexes()).toEqual([false, true]);
    await writer.query('COMMIT');
    await expect.poll(indexes).toEqual([true, true]);
  });

  it('is built without parallel workers where the server lacks shared memory', async () => {
    const documents = new DocumentsRepository(database);
    const failures: unknown[] = [];
    documents.indexer.onFailure = (error) => failures.push(error);
    // What a build with parallel workers meets in a container with a small /dev/shm.
    const tooSmall = new Error('could not resize shared memory segment "/PostgreSQL.1" to 268443456 bytes');
    const builds = vi.spyOn(database.constructor.prototype as Database, 'runOutsideTransaction');
    builds.mockRejectedValueOnce(new Error('internal_error', { cause: tooSmall }));
    await writer.query('COMMIT');
    await store(documents, 'container', 5_000);
    await documents.indexer.settled();
    builds.mockRestore();
    expect(failures).toEqual([]);
    expect((await indexes()).every(Boolean)).toBe(true);
    expect((await indexes()).length).toBeGreaterThan(1);
  });

  it('reports that it was not built', async () => {
    const documents = new DocumentsRepository(database);
    const failures: unknown[] = [];
    documents.indexer.onFailure = (error) => failures.push(error);
    const builds = vi.spyOn(database.constructor.prototype as Database, 'runOutsideTransaction');
    builds.mockRejectedValueOnce(new Error('the disk is full'));
    await writer.query('COMMIT');
    await store(documents, 'failing', 5_000);
    await documents.indexer.settled();
    builds.mockRestore();
    expect(failures).toEqual([new Error('the disk is full')]);
  });
});
