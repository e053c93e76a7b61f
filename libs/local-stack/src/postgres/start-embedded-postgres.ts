import { builtFile } from '#paths';
import { waitForListeningUrl } from '../processes/readiness.js';
import { startServer, type RunningServer, type ServerOptions } from '../processes/supervise.js';

export interface EmbeddedPostgresOptions extends ServerOptions {
  /** The database's files lie in `pgdata` below it; one process at a time. */
  dataDirectory: string;
  /** An empty database to copy instead of creating one; made on first use. For tests, which need many. */
  template?: string;
  /** Milliseconds between two looks whether space is worth being taken back. Default 300,000. */
  vacuumEveryMs?: number;
}

export interface EmbeddedPostgres extends RunningServer {
  connectionString: string;
}

/**
 * Starts PGlite with pgvector as a process of its own that speaks the Postgres protocol on loopback (needs a build:
 * it runs from dist). Errors: StartFailedError, for instance when another process has the data directory.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  let connectionString = '';
  let port = options.port ?? 0;
  const server = await startServer(options, {
    name: 'postgres',
    command: process.execPath,
    args: () => [
      builtFile('postgres'),
      options.dataDirectory,
      String(port),
      ...(options.template === undefined ? [] : [options.template]),
      ...(options.vacuumEveryMs === undefined ? [] : ['--vacuum-every', String(options.vacuumEveryMs)]),
    ],
    lifeline: 'stdin',
    readiness: async (child) => {
      connectionString = await waitForListeningUrl(child);
      port = Number(new URL(connectionString).port);
    },
    // Creating a database takes seconds, on a busy machine many.
    startTimeoutMs: 180_000,
  });
  return { connectionString, ...server };
}

/** Name of a copy of the database, beside its files. */
export const databaseCopy = 'pgdata-copy';

/** Name of the lock of the process that has the database. */
export const embeddedLock = 'embedded-postgres.lock';
