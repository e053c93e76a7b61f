import { randomUUID } from 'node:crypto';
import type { ErrorBody } from '#platform/contracts';
import type { Database } from './database.js';
import { toPostgresJson, type SqlValue } from './transaction.js';

export type JobState = 'queued' | 'running' | 'paused' | 'succeeded' | 'failed' | 'cancelled';

/** Work that continues after the answer to its request. */
export interface Job<Progress = Record<string, unknown>> {
  id: string;
  state: JobState;
  progress: Progress;
  error: ErrorBody | null;
  /** Number of its documents. */
  documents: number;
  /** Documents with an outcome. */
  endedDocuments: number;
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

/** A job to add. */
export interface NewJob<Progress, Request> {
  progress: Progress;
  request: Request;
  /** Of each document: see {@link JobDocuments}. */
  weights: readonly number[];
  /** The client whose share of the queue it takes; default: the program itself. */
  client?: string;
}

/** The outcome of a job. */
export interface JobEnd<Progress> {
  state: 'succeeded' | 'failed' | 'cancelled';
  progress?: Progress;
  error?: ErrorBody;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const columns = `id, state, progress, error, documents, ended_documents AS "endedDocuments", created_at AS "createdAt",
  updated_at AS "updatedAt", finished_at AS "finishedAt"`;
/** Time for which ended jobs are kept. */
const keptFor = '30 days';

/** The state of ingestion jobs: a client can read it from any instance, and after a restart. */
export class JobsRepository<
  Progress extends object = Record<string, unknown>,
  Request extends object = Record<string, unknown>,
> {
  constructor(private readonly database: Database) {}

  /**
   * Adds a queued job with its documents and returns it; undefined if as many jobs of its client, or of all clients, have
   * not ended and are not paused.
   */
  async create(
    { progress, request, weights, client = '' }: NewJob<Progress, Request>,
    { ofOne, ofAll }: { ofOne: number; ofAll: number } = { ofOne: 1_000, ofAll: 1_000 },
  ): Promise<Job<Progress> | undefined> {
    const [job] = await this.rows(
      `WITH made AS (
         INSERT INTO ingest_jobs (id, state, progress, request, documents, client)
         SELECT $1, 'queued', $2::jsonb, $3::jsonb, cardinality($4::smallint[]), $7
         FROM (SELECT count(*) AS all_jobs, count(*) FILTER (WHERE client = $7) AS own_jobs
               FROM ingest_jobs WHERE finished_at IS NULL AND state <> 'paused') AS unfinished
         WHERE own_jobs < $5 AND all_jobs < $6
         RETURNING *
       ), listed AS (
         INSERT INTO ingest_job_documents (job_id, position, weight)
         SELECT made.id, number - 1, weight
         FROM made, unnest($4::smallint[]) WITH ORDINALITY AS given (weight, number)
       )
       SELECT ${columns} FROM made`,
      [randomUUID(), toPostgresJson(progress), toPostgresJson(request), [...weights], ofOne, ofAll, client],
    );
    return job;
  }

  /** Number of jobs of a client that have not ended and are not paused. */
  async countUnfinished(client: string): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM ingest_jobs
       WHERE finished_at IS NULL AND state <> 'paused' AND client = $1`,
      [client],
    );
    return row?.count ?? 0;
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

  /** Pauses a job: no process works on it. False if it has ended or is already paused. */
  async pause(id: string): Promise<boolean> {
    if (!uuid.test(id)) return false;
    const touched = await this.database.execute(
      `UPDATE ingest_jobs SET state = 'paused', epoch = epoch + 1, updated_at = now()
       WHERE id = $1::uuid AND finished_at IS NULL AND state <> 'paused'`,
      [id],
    );
    return touched > 0;
  }

  /** Lets the processes work on a paused job again; false if it is not paused. */
  async resume(id: string): Promise<boolean> {
    if (!uuid.test(id)) return false;
    const touched = await this.database.execute(
      `UPDATE ingest_jobs SET state = 'queued', updated_at = now() WHERE id = $1::uuid AND state = 'paused'`,
      [id],
    );
    return touched > 0;
  }

  /** Removes jobs that ended, or were paused, long ago. Returns their number. */
  async deleteOld(): Promise<number> {
    return this.database.execute(
      `DELETE FROM ingest_jobs WHERE finished_at < now() - interval '${keptFor}'
         OR (state = 'paused' AND finished_at IS NULL AND updated_at < now() - interval '${keptFor}')`,
    );
  }

  /** Ends a job and returns its request; undefined if it is unknown or has already ended: the first end counts. */
  async finish(id: string, { state, progress, error }: JobEnd<Progress>): Promise<Request | undefined> {
    if (!uuid.test(id)) return undefined;
    return this.database.transaction(async (transaction) => {
      // All transactions lock the documents before their job, so that they do not wait for each other.
      await transaction.execute('DELETE FROM ingest_job_documents WHERE job_id = $1::uuid', [id]);
      const [job] = await transaction.query<{ request: Request }>(
        `UPDATE ingest_jobs SET state = $2, progress = coalesce($3::jsonb, progress), error = $4::jsonb,
           updated_at = now(), finished_at = now()
         WHERE id = $1::uuid AND finished_at IS NULL RETURNING request`,
        [id, state, progress ? toPostgresJson(progress) : null, error ? toPostgresJson(error) : null],
      );
      return job?.request;
    });
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
