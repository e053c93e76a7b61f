import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findNatsServer, freePort, startEmbeddedPostgres, startNatsServer } from '#platform/local-stack';
import { MessagingConnection, ObjectStore } from '#platform/messaging';
import { FilesRepository, openDatabase, openMigratedDatabase, type Database } from '#platform/storage';
import { cacheDirectory, createTemporaryDirectory, postgresTemplate } from '#platform/testing';
import { Client } from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { prepareDataDirectory } from '../../apps/launcher/src/data-directory.js';
import { canMakeDisks, makeSmallDisk, type SmallDisk } from '../support/small-disk.js';

const megabyte = 1024 * 1024;
const diskFull = {
  code: 'service_unavailable',
  status: 503,
  message: expect.stringMatching(/postgres.*disk is full/) as string,
  retryAfter: 10,
};

const stops: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

function newDisk(megabytes: number): SmallDisk {
  const disk = makeSmallDisk(megabytes);
  stops.push(() => disk.remove());
  return disk;
}

function use(database: Database): Database {
  stops.push(() => database.close());
  return database;
}

/** Postgres of the system, on a free port, as its own user. */
async function startNativePostgres(programs: string, directory: string): Promise<string> {
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })),
  );
  chownSync(directory, uid!, gid!);
  const user = { uid: uid!, gid: gid!, cwd: directory };
  const options = ['--no-sync', '--auth=trust', '--username=postgres', '-D', directory];
  execFileSync(join(programs, 'initdb'), options, { ...user, stdio: 'pipe' });
  const port = await freePort();
  const settings = ['fsync=off', `unix_socket_directories=${directory}`].flatMap((setting) => [
    '-c',
    setting,
  ]);
  const args = ['-D', directory, '-p', String(port), ...settings];
  const server = spawn(join(programs, 'postgres'), args, { ...user, stdio: 'ignore' });
  stops.push(async () => {
    const exited = once(server, 'exit');
    if (server.exitCode !== null || !server.kill('SIGINT')) return;
    await exited;
  });
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
}

const versions = '/usr/lib/postgresql';
const [programs] = existsSync(versions)
  ? readdirSync(versions).map((version) => join(versions, version, 'bin'))
  : [];
const possible = canMakeDisks();

/** Without root, or on a system without tmpfs, these are skipped: nothing else makes a disk full for one test. */
describe.runIf(possible)('a full disk (needs root, for a tmpfs)', () => {
  it.runIf(programs !== undefined)(
    'of Postgres: what cannot be stored is a 503 that says why; reading goes on, and writing when there is room again',
    async () => {
      const directory = await createTemporaryDirectory();
      stops.push(() => directory.remove());
      const connectionString = await startNativePostgres(programs!, directory.path);
      // Tables alone are on the small disk: without room for its log Postgres ends, and starts again when there is some.
      const disk = newDisk(12);
      const tables = join(disk.path, 'tables');
      mkdirSync(tables);
      const { uid, gid } = statSync(directory.path);
      chownSync(tables, uid, gid);
      const database = use(openDatabase({ connectionString }));
      await expect.poll(() => database.ping().catch(() => 0)).toBeGreaterThan(0);
      const client = new Client(connectionString);
      await client.connect();
      await client.query(`CREATE TABLESPACE small LOCATION '${tables}'`);
      await client.query('CREATE TABLE kept (id int, content bytea) TABLESPACE small');
      await client.end();
      const write = (id: number, bytes: number) =>
        database.transaction((transaction) =>
          transaction.execute('INSERT INTO kept VALUES ($1, $2)', [id, randomContent(bytes)]),
        );
      await write(1, 1_000);
      disk.fill(2 * megabyte);
      const writeUntilFull = async () => {
        for (let id = 2; id < 20; id += 1) await write(id, 500_000);
      };
      await expect(writeUntilFull()).rejects.toMatchObject(diskFull);
      const read = () =>
        database.transaction((transaction) => transaction.query('SELECT id FROM kept WHERE id = 1'));
      expect(await read()).toEqual([{ id: 1 }]);
      disk.makeRoom();
      expect(await write(100, 500_000)).toBe(1);
    },
  );

  it('of the embedded Postgres: the same, for files of the API', async () => {
    const disk = newDisk(200);
    const postgres = await startEmbeddedPostgres({ dataDirectory: disk.path, template: postgresTemplate() });
    stops.push(() => postgres.stop());
    const database = use(await openMigratedDatabase({ connectionString: postgres.connectionString }));
    const files = new FilesRepository(database);
    const bounds = { maxCount: 1_000, maxBytes: 1_000 * megabyte };
    const store = async (id: string, bytes: number) => {
      const written = await files.write('alice', { id, bounds }, pieces(bytes));
      const facts = { filename: 'a', purpose: 'assistants', mimeType: 'text/plain' };
      return files.publish('alice', id, facts, { bytes: written, bounds });
    };
    await store('before', 100_000);
    disk.fill(3 * megabyte);
    await expect(store('too much', 30 * megabyte)).rejects.toMatchObject(diskFull);
    expect(await files.find('alice', 'before')).toMatchObject({ bytes: 100_000 });
    disk.makeRoom();
    await expect
      .poll(() =>
        store('after', 100_000)
          .then(({ id }) => id)
          .catch(String),
      )
      .toBe('after');
    expect(await files.find('alice', 'too much')).toBeUndefined();
  });

  it('of JetStream: an upload is a 503 that says why, and works when there is room again', async () => {
    const disk = newDisk(24);
    const { path: program } = await findNatsServer({ cacheDirectory });
    const nats = await startNatsServer({ program, dataDirectory: disk.path });
    stops.push(() => nats.stop());
    const connection = await MessagingConnection.open({ url: nats.url, name: 'test' });
    stops.push(() => connection.close());
    const objects = new ObjectStore(connection);
    const description = { filename: 'a', mimeType: 'text/plain' };
    await objects.put(Buffer.alloc(100_000), description);
    disk.fill(megabyte);
    await expect(objects.put(pieces(8 * megabyte), description)).rejects.toMatchObject({
      code: 'service_unavailable',
      message: expect.stringMatching(/nats.*(no room|object store)/) as string,
    });
    disk.makeRoom();
    const again = () => objects.put(Buffer.alloc(100_000), description).then(({ bytes }) => bytes);
    await expect.poll(() => again().catch(String)).toBe(100_000);
  });

  it('of the data directory: the start says so, and names the variable', async () => {
    const disk = newDisk(2);
    disk.fill();
    await expect(prepareDataDirectory(join(disk.path, 'data'))).rejects.toThrow(
      /MEGANEST_DATA_DIR: .* cannot be used: the disk is full/,
    );
    disk.makeRoom();
    await expect(prepareDataDirectory(join(disk.path, 'data'))).resolves.toBeUndefined();
  });
});

/** Bytes that do not compress: Postgres would keep zeros in a few pages. */
function randomContent(bytes: number): Buffer {
  const content = Buffer.alloc(bytes);
  for (let index = 0, state = bytes; index < bytes; index += 1) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    content[index] = state >> 16;
  }
  return content;
}

async function* pieces(bytes: number): AsyncGenerator<Buffer> {
  const piece = randomContent(megabyte);
  for (let left = bytes; left > 0; left -= piece.length)
    yield piece.subarray(0, Math.min(left, piece.length));
}
