import { randomUUID } from 'node:crypto';
import type { ErrorBody } from '#contracts';
import type { Database } from './database.js';
import { toPostgresJson } from './postgres-text.js';
import type { SqlValue } from './transaction.js';

export type JobState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

/** Work that outlives the request that asked for it. */
export interface Job<Progress = Record<string, unknown>> {
  id: string;
  state: JobState;
  progress: Progress;
  error: ErrorBody | null;
  createdAt: string;
  updatedAt: string;
  /** Set once the state is final. */
  finishedAt: string | null;
}

interface JobRow<Progress> {
  id: string;
  state: JobState;
  progress: Progress;
  error: ErrorBody | null;
  created_at: Date;
  updated_at: Date;
  finished_at: Date | null;
}

const finalStates: ReadonlySet<JobState> = new Set(['succeeded', 'failed', 'cancelled']);

/** The state of ingestion jobs, so that a client may ask for it at any instance and after a restart. */
export class JobsRepository<Progress extends object = Record<string, unknown>> {
  constructor(private readonly database: Database) {}

  /** Adds a queued job and answers it. */
  async create(progress: Progress, id: string = randomUUID()): Promise<Job<Progress>> {
    const [job] = await this.rows(
      'INSERT INTO ingest_jobs (id, state, progress) VALUES ($1, $2, $3) RETURNING *',
      [id, 'queued', toPostgresJson(progress)],
    );
    if (!job) throw new Error('INSERT … RETURNING gave no row');
    return job;
  }

  async find(id: string): Promise<Job<Progress> | undefined> {
    const [job] = await this.rows('SELECT * FROM ingest_jobs WHERE id::text = lower($1)', [id]);
    return job;
  }

  /** Newest first. */
  async list(limit = 100): Promise<Job<Progress>[]> {
    return this.rows('SELECT * FROM ingest_jobs ORDER BY created_at DESC, id LIMIT $1', [limit]);
  }

  /** Writes progress and marks the job as running; false where it is unknown or has ended (a cancelled job stays so). */
  async report(id: string, progress: Progress): Promise<boolean> {
    return this.update(id, 'running', { progress });
  }

  /** Ends the job; false where it is unknown or had ended before: the first end counts. */
  async finish(
    id: string,
    state: 'succeeded' | 'failed' | 'cancelled',
    details: { progress?: Progress; error?: ErrorBody } = {},
  ): Promise<boolean> {
    return this.update(id, state, details);
  }

  /**
   * Fails the jobs that no living process works on: unfinished and not reported for `idleMs`. Answers how many.
   * A process that works on a job reports more often than that.
   */
  async failAbandoned(idleMs: number, error: ErrorBody): Promise<number> {
    return this.database.transaction((transaction) =>
      transaction.execute(
        `UPDATE ingest_jobs SET state = 'failed', error = $2, updated_at = now(), finished_at = now()
         WHERE finished_at IS NULL AND updated_at < now() - make_interval(secs => $1)`,
        [idleMs / 1_000, toPostgresJson(error)],
      ),
    );
  }

  private async update(
    id: string,
    state: JobState,
    { progress, error }: { progress?: Progress; error?: ErrorBody },
  ): Promise<boolean> {
    const touched = await this.database.transaction((transaction) =>
      transaction.execute(
        `UPDATE ingest_jobs SET state = $2, progress = coalesce($3::jsonb, progress), error = $4::jsonb,
                updated_at = now(), finished_at = CASE WHEN $5 THEN now() END
         WHERE id::text = lower($1) AND finished_at IS NULL`,
        [
          id,
          state,
          progress ? toPostgresJson(progress) : null,
          error ? toPostgresJson(error) : null,
          finalStates.has(state),
        ],
      ),
    );
    return touched > 0;
  }

  private async rows(text: string, values: SqlValue[]): Promise<Job<Progress>[]> {
    const rows = await this.database.transaction((transaction) =>
      transaction.query<JobRow<Progress>>(text, values),
    );
    return rows.map(({ created_at, updated_at, finished_at, ...job }) => ({
      ...job,
      createdAt: created_at.toISOString(),
      updatedAt: updated_at.toISOString(),
      finishedAt: finished_at?.toISOString() ?? null,
    }));
  }
}
