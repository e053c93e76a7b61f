import { builtFile } from '#platform/foundation';
import { waitForListeningUrl } from '../processes/readiness.js';
import { readPassword } from './password-file.js';
import { startServer, type RunningServer, type ServerOptions } from '../processes/supervise.js';

export interface EmbeddedPostgresOptions extends ServerOptions {
  /** Data directory. The database files are in its folder `pgdata`. Only one process may use it at a time. */
  dataDirectory: string;
  /** An empty database to copy, created on first use. For tests, which need many databases. */
  template?: string;
  /**
   * Compiles WebAssembly once, by the fast compiler of V8, and never optimizes it: a start takes half of the processor
   * time, and long work takes longer. For tests, which start many databases and ask little of each.
   */
  isShortLived?: boolean;
  /** Milliseconds between two checks whether a vacuum is worthwhile. Default 300,000. */
  vacuumEveryMs?: number;
}

export interface EmbeddedPostgres extends RunningServer {
  /** With the password, which is in the file `password` of the data directory. */
  connectionString: string;
}

/**
 * Starts PGlite with pgvector as a separate process, which serves the Postgres protocol on loopback. It runs from dist,
 * so that it needs a build. Errors: StartFailedError, for example if another process uses the data directory.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  let connectionString = '';
  let port = options.port ?? 0;
  const server = await startServer(options, {
    name: 'postgres',
    command: process.execPath,
    args: () => [
      ...(options.isShortLived ? ['--liftoff-only'] : []),
      builtFile('postgres'),
      options.dataDirectory,
      String(port),
      ...(options.template === undefined ? [] : [options.template]),
      ...(options.vacuumEveryMs === undefined ? [] : ['--vacuum-every', String(options.vacuumEveryMs)]),
    ],
    lifeline: 'stdin',
    readiness: async (child) => {
      const url = new URL(await waitForListeningUrl(child));
      port = Number(url.port);
      // The log shows the URL without it.
      url.password = await readPassword(options.dataDirectory);
      connectionString = url.href;
    },
    // The creation of a database takes seconds, on a busy machine much longer.
    startTimeoutMs: 180_000,
  });
  return { connectionString, ...server };
}

/** Name of the copy of the database, next to its files. */
export const databaseCopy = 'pgdata-copy';

/** Name of the lock file of the database process. */
export const embeddedLock = 'embedded-postgres.lock';
