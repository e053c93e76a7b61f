import { Client } from 'pg';
import { migrations } from './migrations/index.js';

/** The state of a database as it is found; nothing is changed. */
export interface DatabaseFacts {
  /** e.g. 150004. */
  serverVersion: number;
  /** Version of pgvector: installed, or the one that could be; null where there is none. */
  vector: { version: string | null; installed: boolean };
  /** Names of migrations that have not been applied. */
  pendingMigrations: string[];
  /** Names in the database that this version does not know: a newer one has been here. */
  unknownMigrations: string[];
  mayCreate: boolean;
  documents: number;
  /** Width of the stored vectors, the most frequent first. */
  widths: number[];
  /** Epoch milliseconds by the database's clock. */
  now: number;
}

/** Reads the state of a database. Errors: those of pg where it cannot be reached. */
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
            (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS installed,
            (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS available`,
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
  const index = tables?.chunks ? await readIndex(rowsOf) : { documents: 0, widths: [] };
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

/** The widths of a thousand chunks stand for all of them: a large index is not read as a whole. */
async function readIndex(rowsOf: Rows): Promise<{ documents: number; widths: number[] }> {
  const [count] = await rowsOf<{ count: string }>(
    'SELECT count(*) AS count FROM documents WHERE pending_since IS NULL',
  );
  const widths = await rowsOf<{ width: number }>(
    `SELECT vector_dims(embedding) AS width FROM (SELECT embedding FROM chunks LIMIT 1000) AS sample
     GROUP BY 1 ORDER BY count(*) DESC`,
  );
  return { documents: Number(count?.count), widths: widths.map(({ width }) => width) };
}
