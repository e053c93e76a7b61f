/**
 * The embedded Postgres as a process: `node main.js <data directory> <port> [<template>]`. SIGUSR2 copies the running
 * database to `pgdata-copy` in its directory (`npm run backup`).
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { acquireFileLock } from '../processes/file-lock.js';
import '../processes/exit-with-parent.js';
import { ensureDatabaseFiles, openDatabase } from './database-files.js';
import { databaseCopy, embeddedLock } from './start-embedded-postgres.js';
import { Housekeeping } from './housekeeping.js';
import { providePassword } from './password-file.js';
import { startWireServer } from './wire-server.js';

function print(entry: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(entry)}\n`);
}

function fail(error: unknown): never {
  print({
    level: 'error',
    msg: 'embedded Postgres failed',
    error: error instanceof Error ? error.message : error,
  });
  process.exit(1);
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { 'vacuum-every': { type: 'string', default: '300000' } },
});
const [dataDirectory, port = '0', template] = positionals;
if (dataDirectory === undefined) fail(new Error('usage: main.js <data directory> <port> [<template>]'));

await mkdir(dataDirectory, { recursive: true });
// Two processes on one directory would destroy the database.
const lock = await acquireFileLock(join(dataDirectory, embeddedLock), {
  holder: 'embedded Postgres',
}).catch(fail);
const files = join(dataDirectory, 'pgdata');
await ensureDatabaseFiles(files, template).catch(fail);
const password = await providePassword(dataDirectory).catch(fail);
const database = await openDatabase(files).catch(fail);
const server = await startWireServer({
  database,
  port: Number(port),
  maxConnections: 100,
  password,
  idleInTransactionMs: 15_000,
  onFatal: fail,
}).catch(fail);

const housekeeping = new Housekeeping({
  database,
  scheduler: server.scheduler,
  files,
  vacuumEveryMs: Number(values['vacuum-every']),
  report: print,
});

let stopping = false;
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  housekeeping.stop();
  await server.stop();
  await database.close();
  await lock.release();
  process.exit(0);
}

process.on('SIGTERM', () => void stop().catch(fail));
process.on('SIGINT', () => void stop().catch(fail));
process.on('SIGUSR2', () => void housekeeping.copyTo(join(dataDirectory, databaseCopy)));
print({ level: 'info', msg: 'listening', url: `postgres://postgres@127.0.0.1:${server.port}/postgres` });
