import { basename } from 'node:path';
import { MegaNestError } from '#platform/contracts';
import { runner, type MigrationBuilder } from 'node-pg-migrate';
import { Client } from 'pg';
import { migrations } from './migrations/index.js';
import type { StorageMigration } from './migrations/storage-migration.js';
import { quoteIdentifier, type Transaction } from './transaction.js';

/** Id of the advisory lock: an arbitrary number that all processes share. */
const migrationLock = 7_306_081_913;
const minVectorVersion = '0.8.0';
const silent = { debug: undefined, info: () => {}, warn: () => {}, error: () => {} };

/**
 * Applies pending migrations inside the caller's transaction, under a lock that ends with it. The library's own lock
 * belongs to the session, and PGlite has only one session for all clients. So that lock is off, and no migration gets
 * its own transaction.
 */
export async function runMigrations(transaction: Transaction, schema: string): Promise<string[]> {
  // Another process may migrate for minutes.
  await transaction.query('SET LOCAL statement_timeout = 0');
  await transaction.query('SET LOCAL lock_timeout = 0');
  await transaction.query(`SELECT pg_advisory_xact_lock(${migrationLock})`);
  const found = await transaction.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema]);
  if (found.length === 0) await transaction.query(`CREATE SCHEMA ${quoteIdentifier(schema)}`);
  await requireVectorExtension(transaction);
  await renameStepsBeforeRelease(transaction, schema);
  const applied = await runner({
    dbClient: transaction.client,
    dir: import.meta.dirname,
    // The library needs at least one file: this file, under the name that the bundler gave it.
    ignorePattern: `(?!${basename(import.meta.filename).replaceAll('.', '\\.')}$).*`,
    migrationLoaderStrategies: [
      { extensions: ['.js', '.ts'], loader: () => Promise.resolve(migrations.map(toMigrationUnit)) },
    ],
    migrationsTable: 'meganest_migrations',
    migrationsSchema: schema,
    direction: 'up',
    singleTransaction: false,
    noLock: true,
    logger: silent,
  });
  return applied.map((migration) => migration.name);
}

/**
 * Before the first release the schema had 22 steps. A database that has them all has the schema of today.
 */
async function renameStepsBeforeRelease(transaction: Transaction, schema: string): Promise<void> {
  const table = `${quoteIdentifier(schema)}.meganest_migrations`;
  const [found] = await transaction.query<{ oid: string | null }>('SELECT to_regclass($1) AS oid', [table]);
  if (found?.oid === null) return;
  const renamed = await transaction.execute(
    `UPDATE ${table} SET name = '0001-schema' WHERE name = '0022-reading-reports'`,
  );
  if (renamed > 0)
    await transaction.execute(`DELETE FROM ${table} WHERE left(name, 4) < '0023' AND name <> '0001-schema'`);
}

function toMigrationUnit({ name, up }: StorageMigration) {
  return { id: name, filePaths: [], actions: { up: unwrapped(up), down: false as const } };
}

function unwrapped(step: StorageMigration['up']) {
  return (builder: MigrationBuilder) => {
    builder.noTransaction();
    step(builder);
  };
}

const vectorVersions = `(SELECT extversion FROM pg_extension WHERE extname = 'vector') AS installed,
  (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS available`;

/** Requires pgvector 0.8 or newer (iterative scans). Errors: service_unavailable with the found version. */
async function requireVectorExtension(transaction: Transaction): Promise<void> {
  const [available] = await transaction.query<{ installed: string | null; available: string | null }>(
    `SELECT ${vectorVersions}`,
  );
  const version = available?.installed ?? available?.available;
  if (!version || compareVersions(version, minVectorVersion) < 0) {
    throw new MegaNestError('service_unavailable', {
      service: 'postgres',
      detail: `pgvector ${minVectorVersion} or newer is needed, found ${version ?? 'none'}`,
    });
  }
  if (!available?.installed) await transaction.query('CREATE EXTENSION IF NOT EXISTS vector SCHEMA public');
}

/** Compares dotted versions; negative if `left` is older than `right`. */
export function compareVersions(left: string, right: string): number {
  const [leftParts, rightParts] = [left, right].map((version) => version.split('.').map(Number));
  for (let index = 0; index < 3; index += 1) {
    const difference = (leftParts?.[index] ?? 0) - (rightParts?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The state of a database; reading it does not change the database. */
export interface DatabaseFacts {
  /** e.g. 150004. */
  serverVersion: number;
  /** Version of pgvector, installed or available; null if it is not available. */
  vector: { version: string | null; installed: boolean };
  /** Names of migrations that have not been applied. */
  pendingMigrations: string[];
  /** Names of migrations in the database that this version does not know: a newer version has used it. */
  unknownMigrations: string[];
  mayCreate: boolean;
  documents: number;
  /** Widths of the stored vectors, the most frequent first. */
  widths: number[];
  /** Embedding models of the documents with vectors, as `name@revision`, the most frequent first. */
  models: { name: string; documents: number }[];
  /** Epoch milliseconds by the database's clock. */
  now: number;
}

/** Reads the state of a database. Errors: the errors of pg if it cannot be reached. */
export async function inspectDatabase(connectionString: string, timeoutMs = 3_000): Promise<DatabaseFacts> {
  const client = new Client({ connectionString, connectionTimeoutMillis: timeoutMs, query_timeout: 10_000 });
  await client.connect();
  try {
    return await inspect(client);
  } finally {
    await client.end();
  }
}

async function inspect(client: Client): Promise<DatabaseFacts> {
  const rowsOf = async <Row extends object>(sql: string) => (await client.query<Row>(sql)).rows;
  const [basics] = await rowsOf<{ server: string; installed: string | null; available: string | null }>(
    `SELECT current_setting('server_version_num') AS server,
            ${vectorVersions}`,
  );
  const [rights] = await rowsOf<{ create: boolean; now: string }>(
    `SELECT has_schema_privilege('public', 'CREATE') AS create, extract(epoch FROM clock_timestamp()) * 1000 AS now`,
  );
  const [tables] = await rowsOf<{ migrations: boolean; chunks: boolean }>(
    `SELECT to_regclass('meganest_migrations') IS NOT NULL AS migrations, to_regclass('chunks') IS NOT NULL AS chunks`,
  );
  const applied = tables?.migrations
    ? (await rowsOf<{ name: string }>('SELECT name FROM meganest_migrations')).map(({ name }) => name)
    : [];
  const index = tables?.chunks ? await readIndex(rowsOf) : { documents: 0, widths: [], models: [] };
  const known = migrations.map(({ name }) => name);
  return {
    serverVersion: Number(basics?.server),
    vector: {
      version: basics?.installed ?? basics?.available ?? null,
      installed: Boolean(basics?.installed),
    },
    pendingMigrations: known.filter((name) => !applied.includes(name)),
    unknownMigrations: applied.filter((name) => !known.includes(name)),
    mayCreate: rights?.create ?? false,
    now: Number(rights?.now),
    ...index,
  };
}

type Rows = <Row extends object>(sql: string) => Promise<Row[]>;

/** Reads the widths of a thousand chunks, a sample, so that a large table is not read as a whole. */
async function readIndex(rowsOf: Rows): Promise<Pick<DatabaseFacts, 'documents' | 'widths' | 'models'>> {
  const counted = await rowsOf<{ name: string; documents: number; embedded: number }>(
    `SELECT embedding_model AS name, count(*)::float8 AS documents,
            count(*) FILTER (WHERE chunk_count > 0)::float8 AS embedded
     FROM documents WHERE pending_since IS NULL GROUP BY 1 ORDER BY 3 DESC, 1`,
  );
  const widths = await rowsOf<{ width: number }>(
    `SELECT vector_dims(embedding) AS width FROM (SELECT embedding FROM chunks LIMIT 1000) AS sample
     GROUP BY 1 ORDER BY count(*) DESC`,
  );
  return {
    documents: counted.reduce((sum, { documents }) => sum + documents, 0),
    widths: widths.map(({ width }) => width),
    models: counted.flatMap(({ name, embedded }) => (embedded > 0 ? [{ name, documents: embedded }] : [])),
  };
}
