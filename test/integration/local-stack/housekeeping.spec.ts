import { execFile } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { identifyProcess, startEmbeddedPostgres, type EmbeddedPostgres } from '#platform/local-stack';
import {
  cleanEnvironment,
  createTemporaryDirectory,
  postgresTemplate,
  repositoryRoot,
} from '#platform/testing';

const run = promisify(execFile);
let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
let postgres: EmbeddedPostgres | undefined;
const events = new EventEmitter();

/** Starts the database of a data directory. */
async function start(dataDirectory: string, vacuumEveryMs?: number): Promise<Client> {
  postgres = await startEmbeddedPostgres({
    dataDirectory: join(dataDirectory, 'postgres'),
    template: postgresTemplate(),
    vacuumEveryMs,
    onLine: ({ text }) => {
      if (text.includes('"vacuumed"')) events.emit('vacuumed');
    },
  });
  const client = new Client(postgres.connectionString);
  await client.connect();
  return client;
}

beforeEach(async () => {
  directory = await createTemporaryDirectory();
});
afterEach(async () => {
  await postgres?.stop();
  await directory.remove();
});

async function rewrite(client: Client, times: number): Promise<number> {
  for (let time = 0; time < times; time += 1)
    await client.query(`UPDATE runs SET turn = turn + 1, log = repeat('x', 2000) || turn`);
  const { rows } = await client.query<{ size: string }>(`SELECT pg_relation_size('runs') AS size`);
  return Number(rows[0]?.size);
}

it('takes the space of old rows back while clients work', async () => {
  const client = await start(directory.path, 200);
  await client.query('CREATE TABLE runs (turn int, log text)');
  // In the row itself: its old versions are what fills the table. With an index the server does not tidy pages up by itself.
  await client.query('ALTER TABLE runs ALTER log SET STORAGE PLAIN; CREATE INDEX ON runs (turn)');
  await client.query(`INSERT INTO runs VALUES (0, '')`);
  let greatest = 0;
  for (let round = 0; round < 5; round += 1) {
    const vacuumed = once(events, 'vacuumed');
    greatest = Math.max(greatest, await rewrite(client, 600));
    await vacuumed;
  }
  await client.end();
  // 3,000 versions of 2 kB are 6 MB.
  expect(greatest).toBeLessThan(4_000_000);
});

describe('npm run backup', () => {
  const program = join(repositoryRoot, 'dist/backup.js');
  const backUp = (target: string, env: NodeJS.ProcessEnv = {}) =>
    run(process.execPath, [program, target], {
      env: { ...cleanEnvironment(), MEGANEST_DATA_DIR: join(directory.path, 'data'), ...env },
    });

  async function countIn(dataDirectory: string): Promise<number> {
    const client = await start(dataDirectory);
    const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM kept');
    await client.end();
    await postgres?.stop();
    return Number(rows[0]?.count);
  }

  it('copies a running database, which goes on; the copy opens with all that was committed', async () => {
    const data = join(directory.path, 'data');
    const client = await start(data);
    await client.query('CREATE TABLE kept (id int)');
    const pid = postgres?.process.pid ?? 0;
    await writeFile(
      join(data, 'processes.json'),
      JSON.stringify([{ name: 'postgres', ...identifyProcess(pid) }]),
    );
    let written = 0;
    const abort = new AbortController();
    const writing = (async () => {
      while (!abort.signal.aborted) {
        await client.query('INSERT INTO kept VALUES ($1)', [written]);
        written += 1;
      }
    })();
    await expect.poll(() => written).toBeGreaterThan(50);
    const before = written;
    const target = join(directory.path, 'copy');
    expect((await backUp(target)).stdout).toContain(`To use it: MEGANEST_DATA_DIR=${target} npm start`);
    const after = written;
    abort.abort();
    await writing;
    expect(existsSync(join(data, 'postgres/pgdata-copy'))).toBe(false);
    await client.end();
    await postgres?.stop();
    const restored = await countIn(target);
    expect(restored).toBeGreaterThanOrEqual(before);
    expect(restored).toBeLessThanOrEqual(after);
    // A stopped database is copied as it lies there.
    await rm(target, { recursive: true });
    await backUp(target);
    expect(await countIn(target)).toBe(written);
  });

  it.each([
    ['a target that exists', () => directory.path, {}, /exists; name a directory that does not/],
    ['a directory without a database', () => join(directory.path, 'copy'), {}, /does not contain a database/],
    [
      'a database of the user’s own',
      () => join(directory.path, 'copy'),
      { DATABASE_URL: 'postgres://host/db' },
      /back that database up with pg_dump/,
    ],
  ])('refuses %s', async (_what, target, env, reason) => {
    await expect(backUp(target(), env)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(reason),
    });
  });
});
