import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#platform/local-stack';
import { cacheDirectory, repositoryRoot, createTemporaryDirectory } from './directories.js';

/** An empty database for one test file. */
export interface TestPostgres {
  connectionString: string;
  /** Removes the database with all it holds. */
  stop(): Promise<void>;
}

async function execute(connectionString: string, ...statements: string[]): Promise<void> {
  const client = new Client(connectionString);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
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

/** A server of the embedded Postgres, and the folder of its files. */
interface EmbeddedServer {
  server: EmbeddedPostgres;
  directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
}

async function startServer(isShortLived: boolean): Promise<EmbeddedServer> {
  const directory = await createTemporaryDirectory();
  const template = postgresTemplate();
  const server = await startEmbeddedPostgres({ dataDirectory: directory.path, template, isShortLived });
  return { server, directory };
}

async function stopServer({ server, directory }: EmbeddedServer): Promise<void> {
  await server.stop();
  await directory.remove();
}

async function startOwn(isShortLived: boolean): Promise<TestPostgres> {
  const own = await startServer(isShortLived);
  return { connectionString: own.server.connectionString, stop: () => stopServer(own) };
}

/** Removes everything that a spec file has made in a database, also the settings of the one session. */
const makeEmpty = `
  DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
      EXECUTE format('DROP SCHEMA %I CASCADE', name);
    END LOOP;
    CREATE SCHEMA public;
  END $$`;

/** The servers of this process that no test uses. Spec files have modules of their own, hence the global variable. */
function idleServers(): EmbeddedServer[] {
  const shared = globalThis as { idleServers?: EmbeddedServer[] };
  return (shared.idleServers ??= []);
}

/** A start takes two seconds of a processor, so that the spec files of a process use a server one after the other. */
async function takeShared(): Promise<TestPostgres> {
  const taken = idleServers().pop() ?? (await startServer(true));
  const { connectionString } = taken.server;
  let isGivenBack = false;
  return {
    connectionString,
    stop: async () => {
      if (isGivenBack) return;
      isGivenBack = true;
      await execute(connectionString, makeEmpty, 'DISCARD ALL');
      idleServers().push(taken);
    },
  };
}

/**
 * An empty Postgres with pgvector at hand: a fresh database on the server that `DATABASE_URL` names, else the embedded
 * one (PGlite over its socket, which needs a build). The same tests pass on both. With `isOwn` nothing can connect any
 * more after `stop`.
 */
export function startPostgres({ isOwn = false } = {}): Promise<TestPostgres> {
  const serverUrl = process.env.DATABASE_URL;
  if (serverUrl) return createDatabase(serverUrl);
  // Benchmarks measure optimized code, on a server of their own.
  const isTest = process.env.VITEST === 'true';
  return isTest && !isOwn ? takeShared() : startOwn(isTest);
}
