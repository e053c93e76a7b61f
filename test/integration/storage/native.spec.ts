import { DocumentsRepository, openMigratedDatabase, type Database } from '#storage';
import { findProgramsWithVector, startNativePostgres, type NativePostgres } from '#testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { document, vector } from './storage-fixture.js';

const found = findProgramsWithVector();

describe.skipIf('reason' in found)('a Postgres server', () => {
  let postgres: NativePostgres;
  let database: Database;

  beforeAll(async () => {
    postgres = await startNativePostgres('programs' in found ? found.programs : '');
    database = await openMigratedDatabase({ connectionString: postgres.url, statementTimeoutMs: 500 });
  });

  afterAll(async () => {
    await database?.close();
    await postgres?.stop();
  });

  it('lets writers wait for an index that is built longer than a statement may take', async () => {
    const builder = new Client({ connectionString: postgres.url });
    await builder.connect();
    // The lock of CREATE INDEX.
    await builder.query('BEGIN; LOCK TABLE chunks IN SHARE MODE');
    const documents = new DocumentsRepository(database);
    const chunksOf = (length: number) =>
      Array.from({ length }, (_unused, index) => ({ text: `chunk ${index}`, embedding: vector(1, index) }));
    const [small, large] = [chunksOf(2), chunksOf(120)].map((chunks, index) =>
      documents.replaceDocument(document(`${index}.txt`), chunks),
    );
    const waiting = async () => {
      await builder.query('SELECT pg_stat_clear_snapshot()');
      const { rows } = await builder.query<{ waiting: string }>(
        `SELECT count(*) AS waiting FROM pg_stat_activity
         WHERE wait_event_type = 'Lock' AND clock_timestamp() - query_start > interval '1 second'`,
      );
      return Number(rows[0]?.waiting);
    };
    await expect.poll(waiting).toBe(2);
    await builder.query('COMMIT');
    expect(await small).toMatchObject({ outcome: 'added', chunks: 2 });
    expect(await large).toMatchObject({ outcome: 'added', chunks: 120 });
    await builder.end();
  });
});
