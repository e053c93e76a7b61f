import { cp, rename, rm } from 'node:fs/promises';
import type { PGlite } from '@electric-sql/pglite';
import type { SessionScheduler } from './session-scheduler.js';

export interface HousekeepingOptions {
  database: Pick<PGlite, 'query' | 'exec'>;
  scheduler: Pick<SessionScheduler, 'maintain'>;
  /** Path of the database files. */
  files: string;
  /** Milliseconds between two checks of the amount of written data. */
  vacuumEveryMs: number;
  report(entry: Record<string, unknown>): void;
}

/** Bytes in the write-ahead log after which a vacuum is worthwhile. */
const minWritten = 1024 * 1024;

/**
 * Replaces autovacuum, which the embedded database does not have: after writes it frees the space of old rows for new
 * ones. Also copies the database while it is running.
 */
export class Housekeeping {
  /** Position of the write-ahead log after the last vacuum. */
  #position = '0/0';
  #working = false;
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly options: HousekeepingOptions) {
    this.#timer = setInterval(() => void this.#look(), options.vacuumEveryMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * Copies the database files to `target` in one step. Clients wait during the copy. The copy can be opened as a
   * database.
   */
  async copyTo(target: string): Promise<void> {
    const draft = `${target}.draft`;
    await rm(draft, { recursive: true, force: true });
    await rm(target, { recursive: true, force: true });
    try {
      await this.options.scheduler.maintain(async () => {
        // Between statements the files do not change. They are consistent, as after closing the database.
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
    return (row?.written ?? 0) >= minWritten;
  }

  /** Vacuums one table at a time, so that clients wait for one table only. */
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
