import { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { MegaNestError } from '#platform/contracts';
import { FairTurns, retry } from '#platform/foundation';
import { Pool, type PoolClient, type QueryConfig } from 'pg';
import { isAwayError, isConnectionError, isRetryableError, toMegaNestError } from './database-errors.js';
import { runMigrations } from './migrator.js';
import { quoteIdentifier, type SqlValue, Transaction } from './transaction.js';

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database`. */
  connectionString: string;
  /** Schema of the tables; {@link Database.migrate} creates it. Default `public`. */
  schema?: string;
  /** Maximum connections of this process; one is enough. Default 4. */
  maxConnections?: number;
  /** Milliseconds for the network connection to the server, then `service_unavailable`. Default 5,000. */
  connectionTimeoutMs?: number;
  /**
   * Milliseconds that a transaction waits for a free connection, or for a busy server to accept one, then
   * `service_unavailable`. The deadline of the request usually ends the wait before. Default 120,000.
   */
  queueTimeoutMs?: number;
  /** Time limit of one statement in milliseconds, then `deadline_exceeded`. Default 60,000. */
  statementTimeoutMs?: number;
  /** Time limit of one wait for a lock of another transaction, then `service_unavailable`. Default 20,000. */
  lockTimeoutMs?: number;
  /** Milliseconds that a transaction waits for an unavailable database (restarting, failing over). Default 10,000. */
  patienceMs?: number;
  /** Called when an idle connection breaks (a database restart); the pool replaces it by itself. */
  onConnectionLost?: (error: Error) => void;
}

const attemptLimit = 3;
const migrationRetryMs = 500;
const awayRetryMs = 250;
const backgroundLimitMs = 600_000;
const maxStatementMs = 86_400_000;
/** The server ends a transaction whose process hangs between two statements, since it may hold locks. */
const idleInTransactionMs = 60_000;

/** The outcome of one attempt. */
type Attempt<Result> = { result: Result } | { error: unknown; mayRetry: boolean; isAway: boolean };

/**
 * A pool of connections to Postgres, or to PGlite behind its socket. Everything runs inside explicit transactions:
 * PGlite has one session, and only a transaction keeps the messages of two clients apart (docs/design/storage-and-search.md).
 * It survives a restart of the database: it replaces broken connections, and work that could not run fails with
 * `service_unavailable`, which names postgres.
 */
export class Database {
  private readonly pool: Pool;
  /** Schema of the tables. */
  readonly schema: string;
  private readonly beginStatement: string;
  private readonly patienceMs: number;
  private readonly siblings: Database[] = [];
  /** The connections go to the clients by turns: many calls of one client do not keep another one waiting. */
  private readonly turns: FairTurns;
  private readonly queueTimeoutMs: number;

  constructor(private readonly options: DatabaseOptions) {
    const { connectionString, maxConnections = 4, connectionTimeoutMs = 5_000 } = options;
    const { queueTimeoutMs = 120_000 } = options;
    const {
      lockTimeoutMs = 20_000,
      statementTimeoutMs = 60_000,
      patienceMs = 10_000,
      onConnectionLost,
    } = options;
    this.patienceMs = patienceMs;
    this.queueTimeoutMs = queueTimeoutMs;
    this.turns = new FairTurns({
      service: 'postgres',
      what: 'calls',
      slots: maxConnections,
      slotsOfOne: maxConnections,
      // Requests under way are bounded at the door.
      waitingOfOne: Infinity,
    });
    this.schema = options.schema ?? 'public';
    this.pool = new Pool({
      connectionString,
      max: maxConnections,
      // The driver has one limit for the queue and for the connection. The socket limits the network alone, so that a
      // busy server is not taken for one that is away.
      connectionTimeoutMillis: queueTimeoutMs,
      stream: () => limitedSocket(connectionTimeoutMs),
      /** The server's own limit takes effect first; this limit is for a server that does not answer. */
      query_timeout: statementTimeoutMs + 5_000,
      keepAlive: true,
    });
    this.pool.on('error', (error) => onConnectionLost?.(error));
    this.beginStatement = [
      'BEGIN',
      // Of this transaction only, since a pooler gives its session to other clients afterwards.
      `SET LOCAL statement_timeout = ${Math.ceil(statementTimeoutMs)}`,
      `SET LOCAL lock_timeout = ${Math.ceil(Math.min(lockTimeoutMs, statementTimeoutMs))}`,
      `SET LOCAL idle_in_transaction_session_timeout = ${idleInTransactionMs}`,
      // Statements are short. A search disables scans, which Postgres counts as high costs and would therefore compile.
      'SET LOCAL jit = off',
      `SET LOCAL search_path = ${quoteIdentifier(this.schema)}, public`,
    ].join('; ');
  }

  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it throws. It runs again, at most
   * twice, if the connection was dead before the first statement, or if Postgres chose it as the victim of a deadlock.
   * It also runs again within `patienceMs` if the database is away before the commit. So `work` must only use the
   * database.
   */
  async transaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    { patienceMs = this.patienceMs }: { patienceMs?: number } = {},
  ): Promise<Result> {
    const giveUpAt = performance.now() + patienceMs;
    for (let attempt = 1; ;) {
      const outcome = await this.inTurn(work);
      if ('result' in outcome) return outcome.result;
      const mayWait = outcome.isAway && performance.now() < giveUpAt;
      if (mayWait) await wait(awayRetryMs);
      else if (!outcome.mayRetry || attempt++ === attemptLimit) throw toMegaNestError(outcome.error);
    }
  }

  /** Runs one statement in its own transaction; returns its rows. */
  query<Row extends object>(text: string, values?: readonly SqlValue[]): Promise<Row[]> {
    return this.transaction((transaction) => transaction.query<Row>(text, values));
  }

  /** Runs one statement in its own transaction; returns the number of affected rows. */
  execute(text: string, values?: readonly SqlValue[]): Promise<number> {
    return this.transaction((transaction) => transaction.execute(text, values));
  }

  /**
   * Applies the pending migrations and returns their names; safe if several processes start at once. Waits up to
   * `patienceMs` for a database that is starting, or that runs the migrations of another process.
   * Errors: service_unavailable.
   */
  async migrate(patienceMs = 20_000): Promise<string[]> {
    const until = Date.now() + patienceMs;
    return retry({ isRetryable: mayComeBack, firstMs: migrationRetryMs, until }, () =>
      this.transaction((transaction) => runMigrations(transaction, this.schema), atOnce),
    );
  }

  /** Returns a database with one separate connection, for long work in the background; it closes with this one. */
  sibling(): Database {
    const sibling = new Database({
      ...this.options,
      maxConnections: 1,
      statementTimeoutMs: backgroundLimitMs,
    });
    this.siblings.push(sibling);
    return sibling;
  }

  /**
   * Runs a statement that Postgres refuses within a transaction, with its own settings and without a time limit. An
   * abort closes the connection; the server finishes the statement.
   */
  async runOutsideTransaction(
    text: string,
    { settings, signal }: { settings: Record<string, string>; signal: AbortSignal },
  ): Promise<void> {
    const client = await this.pool.connect();
    const cut = () => void client.end();
    client.on('error', ignoreLostClient);
    signal.addEventListener('abort', cut);
    try {
      signal.throwIfAborted();
      const names = Object.keys(settings);
      for (const name of names)
        await client.query('SELECT set_config($1, $2, false)', [name, settings[name]]);
      const statement: QueryConfig & { query_timeout: number } = { text, query_timeout: maxStatementMs };
      await client.query(statement);
      for (const name of names) await client.query(`RESET ${name}`);
      client.release();
    } catch (error) {
      client.release(true);
      throw toMegaNestError(error);
    } finally {
      signal.removeEventListener('abort', cut);
      client.off('error', ignoreLostClient);
    }
  }

  /** Checks that the database answers; returns the milliseconds it took. Errors: service_unavailable. */
  async ping(): Promise<number> {
    const start = performance.now();
    await this.transaction((transaction) => transaction.query('SELECT 1'), atOnce);
    return performance.now() - start;
  }

  /** Waits for running transactions and closes every connection. */
  async close(): Promise<void> {
    await Promise.all(this.siblings.map((sibling) => sibling.close()));
    await this.pool.end();
  }

  /** Makes an attempt when it is the turn of its client. */
  private async inTurn<Result>(
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Attempt<Result>> {
    const signal = this.turns.isFull ? AbortSignal.timeout(this.queueTimeoutMs) : undefined;
    try {
      return await this.turns.run(() => this.attempt(work), { ...(signal && { signal }) });
    } catch (cause) {
      const detail = `no connection was free within ${this.queueTimeoutMs} ms`;
      const options = { service: 'postgres', detail, retryAfter: 1, cause };
      const error = new MegaNestError('service_unavailable', options);
      return { error, mayRetry: false, isAway: false };
    }
  }

  private async attempt<Result>(
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Attempt<Result>> {
    let client: PoolClient;
    try {
      client = await this.pool.connect();
    } catch (error) {
      return { error, mayRetry: false, isAway: isAwayError(error) };
    }
    client.on('error', ignoreLostClient);
    let [begun, committing] = [false, false];
    try {
      await client.query(this.beginStatement);
      begun = true;
      const result = await work(new Transaction(client));
      committing = true;
      await client.query('COMMIT');
      client.release();
      return { result };
    } catch (error) {
      await rollBackAndRelease(client, error);
      const mayRetry = begun ? isRetryableError(error) : isConnectionError(error);
      // Without the answer to a commit, its outcome is unknown.
      return { error, mayRetry, isAway: !committing && isAwayError(error) };
    } finally {
      client.off('error', ignoreLostClient);
    }
  }
}

/** A socket that gives up if the network connection takes longer. */
function limitedSocket(timeoutMs: number): Socket {
  const socket = new Socket();
  const giveUp = () =>
    socket.destroy(Object.assign(new Error(`no connection within ${timeoutMs} ms`), { code: 'ETIMEDOUT' }));
  socket.setTimeout(timeoutMs, giveUp);
  return socket.once('connect', () => socket.setTimeout(0).off('timeout', giveUp));
}

/** For callers that wait themselves, or that check whether the database is up. */
const atOnce = { patienceMs: 0 };

function mayComeBack(error: unknown): boolean {
  return error instanceof MegaNestError && error.retryAfter !== undefined;
}

/** A client in use that loses its connection between two statements must not end the process. */
function ignoreLostClient(): void {}

/** Opens a {@link Database}; it connects on first use. */
export function openDatabase(options: DatabaseOptions): Database {
  return new Database(options);
}

/** Opens a {@link Database} and brings its schema up to date. Errors: service_unavailable that names postgres. */
export async function openMigratedDatabase(options: DatabaseOptions): Promise<Database> {
  const database = openDatabase(options);
  await database.migrate();
  return database;
}

async function rollBackAndRelease(client: PoolClient, error: unknown): Promise<void> {
  if (isConnectionError(error)) return client.release(true);
  try {
    await client.query('ROLLBACK');
    client.release();
  } catch {
    client.release(true);
  }
}
