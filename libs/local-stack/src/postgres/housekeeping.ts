import { cp, rename, rm } from 'node:fs/promises';
import type { PGlite } from '@electric-sql/pglite';
import type { SessionScheduler } from './session-scheduler.js';

export interface HousekeepingOptions {
  database: Pick<PGlite, 'query' | 'exec'>;
  scheduler: Pick<SessionScheduler, 'maintain'>;
  /** The database's files. */
  files: string;
  /** Milliseconds between two looks at how much was written. */
  vacuumEveryMs: number;
  report(entry: Record<string, unknown>): void;
}

/** Bytes of the write-ahead log after which space is worth being taken back. */
const leastWritten = 1024 * 1024;

/**
 * What a server's autovacuum does, for an embedded database that has none: where clients have written, the space of old rows is made
 * free for new ones. Also copies the database while it runs.
 */
export class Housekeeping {
  /** Where the write-ahead log was after the last vacuum. */
  #position = '0/0';
  #working = false;
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly options: HousekeepingOptions) {
    this.#timer = setInterval(() => void this.#look(), options.vacuumEveryMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Copies the database's files to `target`, whole or not at all; clients wait as long. A database opens from the copy. */
  async copyTo(target: string): Promise<void> {
    const draft = `${target}.draft`;
    await rm(draft, { recursive: true, force: true });
    await rm(target, { recursive: true, force: true });
    try {
      await this.options.scheduler.maintain(async () => {
        // Nothing is written between statements: the files are those of a database that was just closed.
        await this.options.database.exec('CHECKPOINT');
        await cp(this.options.files, draft, { recursive: true });
      });
      await rename(draft, target);
      this.options.report({ level: 'info', msg: 'copied', target });
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      this.options.report({ level: 'error', msg: 'the copy failed', error: String(error) });
    }
  }

  async #look(): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    try {
      if (await this.#isWorthIt()) await this.#vacuum();
    } catch (error) {
      this.options.report({ level: 'warn', msg: 'vacuum failed', error: String(error) });
    } finally {
      this.#working = false;
    }
  }

  async #isWorthIt(): Promise<boolean> {
    const [row] = await this.#ask<{ written: number }>(
      `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '${this.#position}')::float8 AS written`,
    );
    return (row?.written ?? 0) >= leastWritten;
  }

  /** One table at a time, so that clients wait for one alone. */
  async #vacuum(): Promise<void> {
    const { database, scheduler } = this.options;
    const startedAt = performance.now();
    const tables = await this.#ask<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    for (const { name } of tables)
      await scheduler.maintain(async () => void (await database.exec(`VACUUM ${name}`)));
    const [row] = await this.#ask<{ position: string }>('SELECT pg_current_wal_lsn()::text AS position');
    this.#position = row?.position ?? this.#position;
    const ms = Math.round(performance.now() - startedAt);
    this.options.report({ level: 'info', msg: 'vacuumed', tables: tables.length, ms });
  }

  async #ask<Row>(statement: string): Promise<Row[]> {
    let result: Row[] = [];
    await this.options.scheduler.maintain(async () => {
      result = (await this.options.database.query<Row>(statement)).rows;
    });
    return result;
  }
}
