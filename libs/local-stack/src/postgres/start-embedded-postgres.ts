import { builtFile } from '#paths';
import type { ChildExit } from '../processes/child.js';
import { waitForListeningUrl } from '../processes/readiness.js';
import {
  superviseProcess,
  whenReadyOrStopped,
  type SupervisedProcess,
  type SupervisionOptions,
} from '../processes/supervise.js';

export interface EmbeddedPostgresOptions {
  /** The database's files lie in `pgdata` below it; one process at a time. */
  dataDirectory: string;
  /** Default 0: a free one; a restart keeps it. */
  port?: number;
  /** An empty database to copy instead of creating one; made on first use. For tests, which need many. */
  template?: string;
  /** Milliseconds between two looks whether space is worth being taken back. Default 300,000. */
  vacuumEveryMs?: number;
  /** Ends a start that is not needed any more. */
  signal?: AbortSignal;
  restart?: SupervisionOptions['restart'];
  onLine?: SupervisionOptions['onLine'];
  onEvent?: SupervisionOptions['onEvent'];
}

export interface EmbeddedPostgres {
  connectionString: string;
  process: SupervisedProcess;
  /** Resolves when the database is gone for good. */
  exited: Promise<ChildExit>;
  stop(): Promise<void>;
}

/**
 * Starts PGlite with pgvector as a process of its own that speaks the Postgres protocol on loopback (needs a build:
 * it runs from dist). Errors: StartFailedError, for instance when another process has the data directory.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  let connectionString = '';
  let port = options.port ?? 0;
  const database = superviseProcess({
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
    restart: options.restart ?? false,
    onLine: options.onLine,
    onEvent: options.onEvent,
  });
  await whenReadyOrStopped(database, options.signal);
  return {
    connectionString,
    process: database,
    exited: database.whenFinished(),
    stop: () => database.stop(),
  };
}

/** Name of a copy of the database, beside its files. */
export const databaseCopy = 'pgdata-copy';

/** Name of the lock of the process that has the database. */
export const embeddedLock = 'embedded-postgres.lock';
