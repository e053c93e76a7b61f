import { basename } from 'node:path';
import { runner, type MigrationBuilder } from 'node-pg-migrate';
import { MegaNestError } from '#contracts';
import { migrations } from './migrations/index.js';
import type { StorageMigration } from './migrations/storage-migration.js';
import { quoteIdentifier, type Transaction } from './transaction.js';

/** Any number will do as long as every process uses the same. */
const migrationLock = 7_306_081_913;
const leastVectorVersion = '0.8.0';
const silent = { debug: undefined, info: () => {}, warn: () => {}, error: () => {} };

/**
 * Applies pending migrations inside the caller's transaction, under a lock that ends with it. The library's own
 * lock belongs to the session, and PGlite has but one for all clients; so its lock is off, and every migration asks
 * not to be wrapped in a transaction of its own.
 */
export async function runMigrations(transaction: Transaction, schema: string): Promise<string[]> {
  await transaction.query('SET LOCAL statement_timeout = 0');
  await transaction.query(`SELECT pg_advisory_xact_lock(${migrationLock})`);
  const found = await transaction.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema]);
  if (found.length === 0) await transaction.query(`CREATE SCHEMA ${quoteIdentifier(schema)}`);
  await requireVectorExtension(transaction);
  const applied = await runner({
    dbClient: transaction.client,
    dir: import.meta.dirname,
    // The library wants one file at least: this one, whatever the bundler called it.
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

function toMigrationUnit({ name, up, down }: StorageMigration) {
  return { id: name, filePaths: [], actions: { up: unwrapped(up), down: unwrapped(down) } };
}

function unwrapped(step: StorageMigration['up']) {
  return (builder: MigrationBuilder) => {
    builder.noTransaction();
    step(builder);
  };
}

/** pgvector of at least 0.8 (iterative scans). Errors: service_unavailable that says what is missing. */
async function requireVectorExtension(transaction: Transaction): Promise<void> {
  const [available] = await transaction.query<{ installed: string | null; available: string | null }>(
    `SELECT (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS installed,
            (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS available`,
  );
  const version = available?.installed ?? available?.available;
  if (!version || compareVersions(version, leastVectorVersion) < 0) {
    throw new MegaNestError('service_unavailable', {
      service: 'postgres',
      detail: `pgvector ${leastVectorVersion} or newer is needed, found ${version ?? 'none'}`,
    });
  }
  if (!available?.installed) await transaction.query('CREATE EXTENSION IF NOT EXISTS vector SCHEMA public');
}

/** Negative where the dotted version `left` is older than `right`. */
export function compareVersions(left: string, right: string): number {
  const [leftParts, rightParts] = [left, right].map((version) => version.split('.').map(Number));
  for (let index = 0; index < 3; index += 1) {
    const difference = (leftParts?.[index] ?? 0) - (rightParts?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
