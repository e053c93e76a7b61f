import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { MegaNestError } from '#platform/contracts';
import { asClient } from '#platform/foundation';
import { startEmbeddedPostgres } from '#platform/local-stack';
import { DocumentsRepository, openDatabase, type Database } from '#platform/storage';
import {
  createTemporaryDirectory,
  freePort,
  postgresTemplate,
  startPostgres,
  type TestPostgres,
} from '#platform/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { document, vector } from './storage-fixture.js';

describe('Database', () => {
  let postgres: TestPostgres;
  const opened: Database[] = [];

  function open(schema?: string): Database {
    const { connectionString } = postgres;
    const database = openDatabase({ connectionString, schema, maxConnections: 1 });
    opened.push(database);
    return database;
  }

  /** The database's URL by way of another port. */
  function urlAt(port: number): string {
    const url = new URL(postgres.connectionString);
    url.port = String(port);
    return url.href;
  }

  /** Carries connections to the database, until they are cut. */
  async function openRoad(port: number) {
    const sockets: Socket[] = [];
    const { port: target, hostname } = new URL(postgres.connectionString);
    const server = createServer((socket) => {
      const onward = connect(Number(target), hostname);
      sockets.push(socket);
      socket.on('error', () => undefined).on('close', () => onward.destroy());
      onward.on('error', () => undefined).on('close', () => socket.destroy());
      socket.pipe(onward).pipe(socket);
    });
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return {
      port: (server.address() as AddressInfo).port,
      cut: () => sockets.splice(0).forEach((socket) => socket.destroy()),
      close: () => server.close(),
    };
  }

  beforeAll(async () => {
    postgres = await startPostgres();
  });

  afterAll(async () => {
    await Promise.all(opened.map((database) => database.close()));
    await postgres?.stop();
  });

  it('limits statements, waits for locks and idle transactions, in its transactions only', async () => {
    const database = open();
    const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
    const [limits] = await database.query<Record<string, string>>(
      `SELECT ${names.map((name) => `current_setting('${name}') AS ${name}`).join(', ')}`,
    );
    expect(Object.values(limits!)).toEqual(['1min', '20s', '1min']);
    const client = new Client(postgres.connectionString);
    await client.connect();
    expect((await client.query('SHOW lock_timeout')).rows).toEqual([{ lock_timeout: '0' }]);
    await client.end();
  });

  it('migrates once, however many start at the same time', async () => {
    const databases = [open(), open(), open(), open()];
    const applied = await Promise.all(databases.map((database) => database.migrate()));
    expect(applied.flat()).toEqual([
      '0001-schema',
      '0027-batches',
      '0030-engines',
      '0031-document-originals',
      '0032-short-pending-lists',
    ]);
    expect(await open().migrate()).toEqual([]);
    const [database] = databases;
    await database!.query(
      "UPDATE meganest_migrations SET name = '0022-reading-reports' WHERE name = '0001-schema'",
    );
    await database!.query(
      "INSERT INTO meganest_migrations (name, run_on) VALUES ('0021-clients-of-jobs', now())",
    );
    expect(await open().migrate()).toEqual([]);
    expect(await database!.query('SELECT name FROM meganest_migrations ORDER BY name')).toEqual([
      { name: '0001-schema' },
      { name: '0027-batches' },
      { name: '0030-engines' },
      { name: '0031-document-originals' },
      { name: '0032-short-pending-lists' },
    ]);
  });

  it('keeps schemas apart', async () => {
    const [first, second] = [open('first'), open('second')];
    await Promise.all([first.migrate(), second.migrate()]);
    await new DocumentsRepository(first).replaceDocument(document('a'), [
      { text: 'x', embedding: vector(1, 0) },
    ]);
    await new DocumentsRepository(second).replaceDocument(document('b'), [
      { text: 'y', embedding: vector(0, 1) },
    ]);
    expect(await new DocumentsRepository(first).list()).toMatchObject([{ filename: 'a' }]);
    expect(await new DocumentsRepository(second).list()).toMatchObject([{ filename: 'b' }]);
  });

  it('undoes a transaction whose work fails, and keeps no setting of it', async () => {
    const [database, other] = [open('undone'), open('undone')];
    await database.migrate();
    const failing = database.transaction(async (transaction) => {
      await transaction.query("SET LOCAL application_name = 'leaked'");
      await transaction.query('CREATE TABLE half_done ()');
      throw new Error('on purpose');
    });
    await expect(failing).rejects.toMatchObject({ code: 'internal_error', message: /on purpose/ });
    for (const client of [database, other]) {
      const [row] = await client.transaction((transaction) =>
        transaction.query<{ name: string; found: string | null }>(
          "SELECT current_setting('application_name') AS name, to_regclass('half_done')::text AS found",
        ),
      );
      expect(row?.name).not.toBe('leaked');
      expect(row?.found).toBeNull();
    }
  });

  it('keeps the parameters of many clients apart, large ones too', async () => {
    const large = 'x'.repeat(300_000);
    const clients = [open(), open(), open(), open()];
    const sums = clients.map(async (client, index) => {
      let sum = 0;
      for (let turn = 0; turn < 20; turn += 1) {
        const [row] = await client.transaction((transaction) =>
          transaction.query<{ own: number }>('SELECT $1::int + length($2) - length($2) AS own', [
            index,
            large,
          ]),
        );
        sum += row?.own ?? Number.NaN;
      }
      return sum;
    });
    expect(await Promise.all(sums)).toEqual([0, 20, 40, 60]);
  });

  it('replaces connections that the server closed', async () => {
    const [database, killer] = [open(), open()];
    await database.ping();
    await killer.transaction((transaction) =>
      transaction.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      ),
    );
    expect(await database.ping()).toBeGreaterThan(0);
  });

  it('says which database is away', async () => {
    const port = await freePort();
    const database = openDatabase({ connectionString: `postgres://postgres@127.0.0.1:${port}/postgres` });
    await expect(database.ping()).rejects.toMatchObject({
      code: 'service_unavailable',
      status: 503,
      service: 'postgres',
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
    await database.close();
  });

  it('waits for a database that is not there yet, as long as its patience allows', async () => {
    const port = await freePort();
    const connectionString = urlAt(port);
    const database = openDatabase({ connectionString });
    const waiting = database.transaction((transaction) => transaction.query('SELECT 1 AS one'));
    await expect(database.ping()).rejects.toMatchObject({ code: 'service_unavailable' });
    const impatient = openDatabase({ connectionString, patienceMs: 0 });
    await expect(impatient.transaction((transaction) => transaction.query('SELECT 1'))).rejects.toMatchObject(
      { code: 'service_unavailable', retryAfter: 1 },
    );
    const road = await openRoad(port);
    expect(await waiting).toEqual([{ one: 1 }]);
    await Promise.all([database.close(), impatient.close()]);
    road.close();
  });

  it('runs a transaction again whose connection broke before the commit', async () => {
    const road = await openRoad(0);
    const database = openDatabase({ connectionString: urlAt(road.port) });
    let runs = 0;
    const rows = await database.transaction(async (transaction) => {
      runs += 1;
      await transaction.query('SELECT 1');
      if (runs === 1) road.cut();
      return transaction.query('SELECT 2 AS two');
    });
    expect(rows).toEqual([{ two: 2 }]);
    expect(runs).toBe(2);
    await database.close();
    road.close();
  });

  it('waits for a free connection, or for a busy server, longer than for the network', async () => {
    const { connectionString } = postgres;
    const [busy, other] = [0, 1].map(() =>
      openDatabase({ connectionString, maxConnections: 1, connectionTimeoutMs: 100 }),
    ) as [Database, Database];
    opened.push(busy, other);
    const sleep = () => busy.query<{ slept: boolean }>('SELECT pg_sleep(0.5) IS NOT NULL AS slept');
    const answers = await Promise.all([
      sleep(),
      busy.query('SELECT 1 AS one'),
      other.query('SELECT 2 AS two'),
    ]);
    expect(answers).toEqual([[{ slept: true }], [{ one: 1 }], [{ two: 2 }]]);
  });

  it('gives the connections to clients by turns, so that many calls of one do not keep another one waiting', async () => {
    const { connectionString } = postgres;
    const database = openDatabase({ connectionString, maxConnections: 1 });
    opened.push(database);
    const ended: string[] = [];
    const call = (client: string) =>
      asClient(client, () => database.query('SELECT pg_sleep(0.02)')).then(() => ended.push(client));
    const ofBob = Array.from({ length: 10 }, () => call('bob'));
    await Promise.all([...ofBob, call('alice')]);
    expect(ended.indexOf('alice')).toBeLessThanOrEqual(2);
  });

  it('says that the database is not available if the queue takes longer than its limit', async () => {
    const { connectionString } = postgres;
    const database = openDatabase({ connectionString, maxConnections: 1, queueTimeoutMs: 1_000 });
    opened.push(database);
    await database.ping();
    const outcomes = await Promise.allSettled([
      database.query('SELECT pg_sleep(2)'),
      database.query('SELECT 1'),
    ]);
    expect(outcomes).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: 'service_unavailable' } },
    ]);
  });

  it('names a statement that took too long', async () => {
    const { connectionString } = postgres;
    const database = openDatabase({ connectionString, statementTimeoutMs: 50 });
    const slow = database.transaction((transaction) => transaction.query('SELECT pg_sleep(0.3)'));
    const [server] = await database.transaction((transaction) =>
      transaction.query<{ version: string }>('SELECT version()'),
    );
    const outcome = await slow.then(
      () => 'ran to its end',
      (error: MegaNestError) => error.code,
    );
    // PGlite has no signals and so no timeouts.
    expect(outcome).toBe(server?.version.includes('PGlite') ? 'ran to its end' : 'deadline_exceeded');
    await database.close();
  });
});

describe('a restart of the embedded database', () => {
  it('fails clearly while it is away, then goes on with what was stored', async () => {
    const directory = await createTemporaryDirectory();
    const options = {
      dataDirectory: directory.path,
      port: await freePort(),
      template: postgresTemplate(),
      isShortLived: true,
    };
    let postgres = await startEmbeddedPostgres(options);
    const lost: string[] = [];
    const database = openDatabase({
      connectionString: postgres.connectionString,
      patienceMs: 0,
      onConnectionLost: (error) => lost.push(error.message),
    });
    await database.migrate();
    const documents = new DocumentsRepository(database);
    await documents.replaceDocument(document('kept'), [{ text: 'x', embedding: vector(1, 0) }]);
    await postgres.stop();
    await expect(documents.list()).rejects.toMatchObject({ code: 'service_unavailable' });
    postgres = await startEmbeddedPostgres(options);
    expect(await documents.list()).toMatchObject([{ filename: 'kept', chunks: 1 }]);
    expect(lost).not.toHaveLength(0);
    await database.close();
    await postgres.stop();
    await directory.remove();
  });
});
