import { ChunksRepository, DocumentsRepository, openDatabase, type Database } from '#platform/storage';
import {
  createTemporaryDirectory,
  findProgramsWithVector,
  startNats,
  startNativePostgres,
  startService,
  type NativePostgres,
} from '#platform/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasPgBouncer, startPgBouncer, type PgBouncer } from '../../support/pgbouncer.js';
import { document, search, vector } from './storage-fixture.js';

/** Both are Debian's; machines without a native Postgres with pgvector, or without PgBouncer, skip this. */
const found = findProgramsWithVector();

describe.skipIf(!('programs' in found) || !hasPgBouncer())('PgBouncer, pooling transactions', () => {
  let server: NativePostgres;
  let pooler: PgBouncer;
  let databases: Database[];

  beforeAll(async () => {
    server = await startNativePostgres('programs' in found ? found.programs : '');
    // Fewer connections than those that share them, so that each changes hands all the time.
    pooler = await startPgBouncer(server.url, 3);
    databases = [1, 2, 3].map(() => openDatabase({ connectionString: pooler.url, maxConnections: 8 }));
  });
  afterAll(async () => {
    await Promise.all(databases?.map((database) => database.close()) ?? []);
    await pooler?.stop();
    await server?.stop();
  });

  /** The settings of each of its connections to the server, outside of a transaction of ours. */
  async function settingsOfConnections(): Promise<Set<string>> {
    const clients = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const client = new Client(pooler.url);
        await client.connect();
        return client;
      }),
    );
    const limits = ['lock_timeout', 'idle_in_transaction_session_timeout'];
    const names = [...limits, 'statement_timeout', 'search_path', 'jit', 'enable_sort', 'enable_seqscan'];
    const shown = names.map((name) => `current_setting('${name}')`).join(", ', ', ");
    const sql = `SELECT concat(${shown}) AS settings, pg_sleep(0.05)`;
    const answers = await Promise.all(clients.map((client) => client.query<{ settings: string }>(sql)));
    await Promise.all(clients.map((client) => client.end()));
    return new Set(answers.map(({ rows }) => rows[0]!.settings));
  }

  it('lets processes that start at once migrate, one after the other', async () => {
    const applied = await Promise.all(databases.map((database) => database.migrate()));
    expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
  });

  it('lets many write, search and index at once, and keeps no setting of a transaction', async () => {
    const before = await settingsOfConnections();
    const write = async (database: Database, index: number) => {
      const documents = new DocumentsRepository(database);
      const chunks = Array.from({ length: 100 }, (_unused, chunk) => ({
        text: `passage ${chunk} of ${index}`,
        embedding: vector(Math.cos(chunk), Math.sin(chunk), index / 60),
      }));
      await documents.replaceDocument(document(`document-${index}.txt`), chunks);
      const searched = search({
        query: `passage ${index}`,
        embedding: vector(1, 0, 0),
        searchType: 'hybrid',
      });
      return (await new ChunksRepository(database).search(searched)).length;
    };
    const work = Array.from({ length: 60 }, (_unused, index) => write(databases[index % 3]!, index));
    expect(new Set(await Promise.all(work))).toEqual(new Set([4]));
    expect(await new DocumentsRepository(databases[0]!).count()).toEqual({ documents: 60, chunks: 6_000 });
    expect(await settingsOfConnections()).toEqual(before);
    expect(before.size).toBe(1);
  });

  it('serves the services, whose pools together are larger than its own', async () => {
    const [nats, directory] = await Promise.all([startNats(), createTemporaryDirectory()]);
    const env = {
      NATS_URL: nats.url,
      DATABASE_URL: pooler.url,
      DATABASE_POOL_SIZE: '16',
      MEGANEST_DATA_DIR: directory.path,
    };
    const names = ['embedding', 'retrieval', 'dataprep'] as const;
    const services = await Promise.all(names.map((name) => startService(name, env)));
    const [, retrieval, dataprep] = services;
    const upload = async (index: number) => {
      const form = new FormData();
      form.append(
        'files',
        new Blob([`The Quibblewick engine number ${index} runs on plum juice.`]),
        `${index}.txt`,
      );
      form.append('collection', 'engines');
      return (await fetch(`${dataprep!.url}/v1/dataprep/ingest`, { method: 'POST', body: form })).status;
    };
    const ask = async () => {
      const response = await fetch(`${retrieval!.url}/v1/retrieval`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text: 'plum juice', collection: 'engines', search_type: 'lexical' }),
      });
      return response.status;
    };
    const statuses = await Promise.all(
      Array.from({ length: 20 }, (_unused, index) => [upload(index), ask(), ask()]).flat(),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    await Promise.all(services.map((service) => service.stop()));
    await Promise.all([nats.stop(), directory.remove()]);
  });

  it('is waited for while it is away, as Postgres behind it', async () => {
    const ping = () =>
      databases[0]!.transaction((transaction) => transaction.query<{ one: number }>('SELECT 1 AS one'));
    await pooler.kill();
    const waiting = Promise.all([ping(), ping()]);
    await pooler.start();
    expect(await waiting).toEqual([[{ one: 1 }], [{ one: 1 }]]);
    await server.kill();
    const again = Promise.all([ping(), ping()]);
    await server.start();
    expect(await again).toEqual([[{ one: 1 }], [{ one: 1 }]]);
  });
});
