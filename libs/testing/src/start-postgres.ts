import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '#local-stack';
import { cacheDirectory, repositoryRoot, createTemporaryDirectory } from './directories.js';

/** An empty database for one test file. */
export interface TestPostgres {
  connectionString: string;
  /** Removes the database with all it holds. */
  stop(): Promise<void>;
}

async function execute(connectionString: string, sql: string): Promise<void> {
  const client = new Client(connectionString);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function createDatabase(serverUrl: string): Promise<TestPostgres> {
  const name = `meganest_test_${randomUUID().replaceAll('-', '')}`;
  await execute(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    connectionString: url.href,
    stop: () => execute(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

/** Path of an initialized database of the PGlite in use, made on first use; a newer PGlite may need newer files. */
export function postgresTemplate(): string {
  const manifest = readFileSync(join(repositoryRoot, 'package.json'), 'utf8');
  const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
  return join(cacheDirectory, `pgdata-${dependencies['@electric-sql/pglite']}`);
}

async function startEmbedded(): Promise<TestPostgres> {
  const directory = await createTemporaryDirectory();
  const database = await startEmbeddedPostgres({
    dataDirectory: directory.path,
    template: postgresTemplate(),
    // Benchmarks measure optimized code.
    isShortLived: process.env.VITEST === 'true',
  });
  return {
    connectionString: database.connectionString,
    stop: async () => {
      await database.stop();
      await directory.remove();
    },
  };
}

/**
 * An empty Postgres with pgvector at hand: a fresh database on the server that `DATABASE_URL` names, else the embedded
 * one (PGlite over its socket, which needs a build). The same tests pass on both.
 */
export function startPostgres(): Promise<TestPostgres> {
  const serverUrl = process.env.DATABASE_URL;
  return serverUrl ? createDatabase(serverUrl) : startEmbedded();
}
