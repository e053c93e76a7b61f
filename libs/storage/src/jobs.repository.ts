import { randomUUID } from 'node:crypto';
import type { ErrorBody } from '#contracts';
import type { Database } from './database.js';
import { toPostgresJson, type SqlValue } from './transaction.js';

export type JobState = 'queued' | 'running' | 'paused' | 'succeeded' | 'failed' | 'cancelled';

/** Work that continues after the answer to its request. */
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

type JobRow<Progress> = Omit<Job<Progress>, 'createdAt' | 'updatedAt' | 'finishedAt'> & {
  createdAt: Date;
  updatedAt: Date;
  finishedAt: Date | null;
};

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const columns = `id, state, progress, error, created_at AS "createdAt", updated_at AS "updatedAt",
  finished_at AS "finishedAt"`;
/** Time for which ended jobs are kept. */
const keptFor = '30 days';

/** A job to continue: its process died, or it was paused. */
export interface ClaimedJob<Request> {
  id: string;
  request: Request;
  /** Reports with an older number are ignored: another process has the job. */
  epoch: number;
}

const finalStates: ReadonlySet<JobState> = new Set(['succeeded', 'failed', 'cancelled']);

/** The state of ingestion jobs: a client can read it from any instance, and after a restart. */
export class JobsRepository<
  Progress extends object = Record<string, unknown>,
  Request extends object = Record<string, unknown>,
> {
  constructor(private readonly database: Database) {}

  /** Adds a queued job and returns it. With its request another process can continue it. */
  async create(progress: Progress, request?: Request): Promise<Job<Progress>> {
    const [job] = await this.rows(
      `INSERT INTO ingest_jobs (id, state, progress, request) VALUES ($1, $2, $3, $4) RETURNING ${columns}`,
      [randomUUID(), 'queued', toPostgresJson(progress), request ? toPostgresJson(request) : null],
    );
    return job!;
  }

  async find(id: string): Promise<Job<Progress> | undefined> {
    if (!uuid.test(id)) return undefined;
    const [job] = await this.rows(`SELECT ${columns} FROM ingest_jobs WHERE id = $1::uuid`, [id]);
    return job;
  }

  /** Newest first. */
  async list(limit = 100): Promise<Job<Progress>[]> {
    return this.rows(`SELECT ${columns} FROM ingest_jobs ORDER BY created_at DESC, id LIMIT $1`, [limit]);
  }

  /** Renews a waiting job of a process; false if it has ended, is paused, or another process has it. */
  async keep(id: string, epoch = 0): Promise<boolean> {
    const touched = await this.database.execute(
      `UPDATE ingest_jobs SET updated_at = now()
       WHERE id = $1::uuid AND finished_at IS NULL AND state <> 'paused' AND epoch = $2`,
      [id, epoch],
    );
    return touched > 0;
  }

  /** Pauses a job: no process works on it. False if it has ended or is already paused. */
  async pause(id: string): Promise<boolean> {
    if (!uuid.test(id)) return false;
    const touched = await this.database.execute(
      `UPDATE ingest_jobs SET state = 'paused', epoch = epoch + 1, updated_at = now()
       WHERE id = $1::uuid AND finished_at IS NULL AND state <> 'paused' AND request IS NOT NULL`,
      [id],
    );
    return touched > 0;
  }

  /** Gives a paused job to the caller; undefined if it is not paused. */
  async resume(id: string): Promise<ClaimedJob<Request> | undefined> {
    if (!uuid.test(id)) return undefined;
    const [job] = await this.database.query<ClaimedJob<Request>>(
      `UPDATE ingest_jobs SET state = 'queued', updated_at = now()
       WHERE id = $1::uuid AND state = 'paused' RETURNING id, request, epoch`,
      [id],
    );
    return job;
  }

  /** Releases a job, so that any process can continue it at once. */
  async release(id: string, epoch = 0): Promise<void> {
    await this.database.execute(
      `UPDATE ingest_jobs SET state = 'queued', updated_at = now() - interval '1 day', attempts = attempts - 1
       WHERE id = $1::uuid AND finished_at IS NULL AND state <> 'paused' AND epoch = $2`,
      [id, epoch],
    );
  }

  /**
   * Takes over at most `limit` jobs that no running process works on: unfinished, not reported for `idleMs`, and
   * started fewer than `maxAttempts` times.
   */
  async claimAbandoned(
    idleMs: number,
    { limit, maxAttempts }: { limit: number; maxAttempts: number },
  ): Promise<ClaimedJob<Request>[]> {
    return this.database.query<ClaimedJob<Request>>(
      `UPDATE ingest_jobs SET state = 'queued', attempts = attempts + 1, epoch = epoch + 1, updated_at = now()
       WHERE id IN (
         SELECT id FROM ingest_jobs
         WHERE finished_at IS NULL AND updated_at < now() - make_interval(secs => $1)
           AND request IS NOT NULL AND attempts < $3 AND state <> 'paused'
         ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)
       RETURNING id, request, epoch`,
      [idleMs / 1_000, limit, maxAttempts],
    );
  }

  /** Removes jobs that ended, or were paused, long ago. Returns their number. */
  async deleteOld(): Promise<number> {
    return this.database.execute(
      `DELETE FROM ingest_jobs WHERE finished_at < now() - interval '${keptFor}'
         OR (state = 'paused' AND finished_at IS NULL AND updated_at < now() - interval '${keptFor}')`,
    );
  }

  /**
   * Writes progress and marks the job as running; false if it is unknown, has ended (also by a cancellation), is
   * paused, or another process has it.
   */
  async report(id: string, progress: Progress, epoch = 0): Promise<boolean> {
    return this.update(id, 'running', { progress, epoch });
  }

  /** Ends the job; false if it is unknown or has already ended: the first end counts. */
  async finish(
    id: string,
    state: 'succeeded' | 'failed' | 'cancelled',
    details: { progress?: Progress; error?: ErrorBody } = {},
  ): Promise<boolean> {
    return this.update(id, state, details);
  }

  /**
   * Fails the jobs that no running process works on (unfinished, not reported for `idleMs`) if they were started
   * `maxAttempts` times or do not have a request. Returns their number. A running job reports more often than `idleMs`.
   */
  async failAbandoned(idleMs: number, error: ErrorBody, maxAttempts = 1): Promise<number> {
    return this.database.execute(
      `UPDATE ingest_jobs SET state = 'failed', error = $2, updated_at = now(), finished_at = now()
       WHERE finished_at IS NULL AND updated_at < now() - make_interval(secs => $1)
         AND (request IS NULL OR attempts >= $3) AND state <> 'paused'`,
      [idleMs / 1_000, toPostgresJson(error), maxAttempts],
    );
  }

  private async update(
    id: string,
    state: JobState,
    { progress, error, epoch }: { progress?: Progress; error?: ErrorBody; epoch?: number },
  ): Promise<boolean> {
    if (!uuid.test(id)) return false;
    const touched = await this.database.execute(
      `UPDATE ingest_jobs SET state = $2, progress = coalesce($3::jsonb, progress), error = $4::jsonb,
              updated_at = now(), finished_at = CASE WHEN $5 THEN now() END
       WHERE id = $1::uuid AND finished_at IS NULL
         AND ($6::integer IS NULL OR (epoch = $6 AND state <> 'paused'))`,
      [
        id,
        state,
        progress ? toPostgresJson(progress) : null,
        error ? toPostgresJson(error) : null,
        finalStates.has(state),
        epoch ?? null,
      ],
    );
    return touched > 0;
  }

  private async rows(text: string, values: SqlValue[]): Promise<Job<Progress>[]> {
    const rows = await this.database.query<JobRow<Progress>>(text, values);
    return rows.map((job) => ({
      ...job,
      createdAt: job.createdAt.toISOString(),
      updatedAt: job.updatedAt.toISOString(),
      finishedAt: job.finishedAt?.toISOString() ?? null,
    }));
  }
}
