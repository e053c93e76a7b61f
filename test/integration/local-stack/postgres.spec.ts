import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmbeddedPostgres } from '#platform/local-stack';
import {
  createTemporaryDirectory,
  postgresTemplate,
  startPostgres,
  type TestPostgres,
} from '#platform/testing';

let postgres: TestPostgres;
const clients: Client[] = [];

async function connect(connectionString = postgres.connectionString): Promise<Client> {
  const client = new Client(connectionString);
  client.on('error', () => undefined);
  await client.connect();
  clients.push(client);
  return client;
}

/** Twenty transactions, of which every second is rolled back. */
async function countUp(client: Client): Promise<void> {
  for (let round = 0; round < 20; round++) {
    await client.query('BEGIN');
    const { rows } = await client.query<{ value: number }>('SELECT value FROM counter FOR UPDATE');
    await client.query('UPDATE counter SET value = $1', [Number(rows[0]?.value) + 1]);
    await client.query(round % 2 === 0 ? 'COMMIT' : 'ROLLBACK');
  }
}

beforeAll(async () => {
  postgres = await startPostgres();
});

afterAll(async () => {
  await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  await postgres.stop();
});

describe('a Postgres shared by many connections', () => {
  it.each([
    ['no password', ''],
    ['a wrong password', 'wrong'],
  ])('refuses a client with %s', async (_name, password) => {
    const url = new URL(postgres.connectionString);
    expect(url.password).toMatch(/^[\w-]{43}$/);
    const client = new Client({ host: url.hostname, port: Number(url.port), user: 'postgres', password });
    client.on('error', () => undefined);
    await expect(client.connect()).rejects.toThrow(/password/);
  });

  it('holds vectors', async () => {
    const client = await connect();
    await client.query('CREATE EXTENSION IF NOT EXISTS vector');
    const { rows } = await client.query<{ distance: number }>(
      `SELECT '[1,2]'::vector <=> '[2,4]'::vector AS distance`,
    );
    expect(rows[0]?.distance).toBeCloseTo(0, 6);
  });

  it('never mixes the pieces of large statements of several clients', async () => {
    const text = 'x'.repeat(300_000);
    const work = async (client: Client, index: number) => {
      for (let round = 0; round < 10; round++) {
        const { rows } = await client.query(
          `SELECT $1::int AS round, ${index} AS client, length($2) AS length`,
          [round, text.slice(index)],
        );
        expect(rows[0]).toEqual({ round, client: index, length: text.length - index });
      }
    };
    const workers = await Promise.all(Array.from({ length: 6 }, () => connect()));
    await Promise.all(workers.map(work));
  });

  it('keeps the transactions of several clients apart', async () => {
    const [first, second] = [await connect(), await connect()];
    await first.query('CREATE TABLE counter (value int)');
    await first.query('INSERT INTO counter VALUES (0)');
    await Promise.all([countUp(first), countUp(second)]);
    expect((await first.query('SELECT value FROM counter')).rows).toEqual([{ value: 20 }]);
  });

  it('lets an advisory lock exclude other clients, also outside a transaction', async () => {
    const [first, second] = [await connect(), await connect()];
    await first.query('SELECT pg_advisory_lock(7)');
    const order: string[] = [];
    const blocked = second.query('SELECT pg_advisory_lock(7)').then(() => order.push('second'));
    await first.query('SELECT 1');
    order.push('first');
    await first.query('SELECT pg_advisory_unlock(7)');
    await blocked;
    await second.query('SELECT pg_advisory_unlock(7)');
    expect(order).toEqual(['first', 'second']);
  });

  it('rolls back what a client that disappears had begun', async () => {
    const [lost, other] = [await connect(), await connect()];
    await other.query('CREATE TABLE lost (value int)');
    await lost.query('BEGIN');
    await lost.query('INSERT INTO lost VALUES (1)');
    const stream = (lost as unknown as { connection: { stream: { destroy(): void } } }).connection.stream;
    stream.destroy();
    expect((await other.query('SELECT count(*)::int AS count FROM lost')).rows).toEqual([{ count: 0 }]);
  });

  it('answers an error in the middle of a statement and goes on', async () => {
    const client = await connect();
    await expect(client.query('SELECT $1::int', ['no number'])).rejects.toThrow(/invalid input syntax/);
    await expect(client.query('SELEC $1', [1])).rejects.toThrow(/syntax error/);
    expect((await client.query('SELECT $1::int AS one', [1])).rows).toEqual([{ one: 1 }]);
  });

  it('takes a parameter of 20 MB', async () => {
    const client = await connect();
    const { rows } = await client.query('SELECT length($1) AS length', ['x'.repeat(20_000_000)]);
    expect(rows).toEqual([{ length: 20_000_000 }]);
  });
});

describe('the embedded Postgres', () => {
  it.skipIf(process.env.DATABASE_URL)('refuses COPY FROM STDIN, and goes on', async () => {
    const client = await connect();
    await client.query('CREATE TABLE copied (value int)');
    const copy = client.query('COPY copied FROM STDIN');
    await expect(copy).rejects.toThrow('COPY FROM STDIN is not supported by the embedded database');
    expect((await client.query('SELECT count(*)::int AS count FROM copied')).rows).toEqual([{ count: 0 }]);
  });

  it('keeps every acknowledged row when it is killed, and refuses a second process on its files', async () => {
    const directory = await createTemporaryDirectory();
    const options = { dataDirectory: directory.path, template: postgresTemplate() };
    const first = await startEmbeddedPostgres(options);
    const writer = await connect(first.connectionString);
    await writer.query('CREATE TABLE survivor (value int)');
    await expect(startEmbeddedPostgres(options)).rejects.toThrow(/held by embedded Postgres/);
    let acknowledged = 0;
    const writing = (async () => {
      for (;;) {
        await writer.query('INSERT INTO survivor VALUES ($1)', [acknowledged + 1]);
        if (++acknowledged === 200) first.process.signal('SIGKILL');
      }
    })();
    await expect(writing).rejects.toThrow(/terminated|ECONNRESET|closed/);
    await first.exited;
    const second = await startEmbeddedPostgres(options);
    const reader = await connect(second.connectionString);
    const { rows } = await reader.query<{ count: number }>('SELECT count(*)::int AS count FROM survivor');
    expect(rows[0]?.count).toBeGreaterThanOrEqual(acknowledged);
    await second.stop();
    await directory.remove();
  });
});
