import type { ErrorBody } from '#platform/contracts';
import type { Database } from './database.js';
import type { JobEnd } from './jobs.repository.js';
import { toPostgresJson, type Transaction } from './transaction.js';

/** A job to work on. */
export interface SharedJob<Request> {
  id: string;
  /** The client whose share of the queue it takes. */
  client: string;
  request: Request;
  /** Number of its documents. */
  documents: number;
}

/** The part of a process in a job. `owner` is a UUID: documents of another owner are not changed. */
export interface JobShare {
  job: string;
  owner: string;
}

/** A document that this process has claimed. */
export interface ClaimedDocument {
  /** Position in the request, from 0. */
  position: number;
  weight: number;
  /** Earlier attempts that ended with their process. */
  attempts: number;
}

/** The outcome of a document: the stored document, or the reason of its failure. */
export type DocumentOutcome<Stored> = { stored: Stored } | { error: ErrorBody };

/** A document that has ended. */
export interface EndedDocument<Stored> {
  position: number;
  outcome: DocumentOutcome<Stored>;
}

/** `ended`: this call ended the job. `unwanted`: the job has ended or is paused. */
export type Advance = { state: 'open'; claimed: ClaimedDocument[] } | { state: 'ended' | 'unwanted' };

/** Maximum weight of the documents of one claim, so that processes that begin at the same time share a small job. */
export const maxClaimWeight = 16;
/** A document whose process ended during this number of attempts is not attempted again. */
export const maxDocumentAttempts = 3;
const lastAttempt = maxDocumentAttempts - 1;

/**
 * The documents of ingest jobs, which several processes share. A process claims some documents, renews its claim, and
 * stores their outcomes. Documents that are not renewed are claimed by another process. A document has a weight, so that
 * a process claims many small or few large documents.
 */
export class JobDocuments<Progress extends object, Request extends object, Stored extends object> {
  /** A document that was not renewed for `idleMs` has lost its process. */
  constructor(
    private readonly database: Database,
    private readonly idleMs: number,
  ) {}

  /**
   * Jobs with documents to claim, except some: clients take turns, the one with the fewest running jobs first, and the
   * jobs of a client keep their order.
   */
  findJobs(
    except: { ids: readonly string[]; clients?: readonly string[] },
    limit: number,
  ): Promise<SharedJob<Request>[]> {
    return this.database.query<SharedJob<Request>>(
      `WITH running AS (
         SELECT client, count(*) AS jobs FROM ingest_jobs AS job
         WHERE finished_at IS NULL
           AND EXISTS (SELECT FROM ingest_job_documents WHERE job_id = job.id AND state = 'running')
         GROUP BY client
       )
       SELECT id, job.client, request, documents FROM ingest_jobs AS job LEFT JOIN running USING (client)
       WHERE finished_at IS NULL AND state <> 'paused' AND id <> ALL ($1::uuid[])
         AND job.client <> ALL ($4::text[])
         AND EXISTS (SELECT FROM ingest_job_documents WHERE job_id = job.id AND ${isClaimable('$2')})
       ORDER BY coalesce(running.jobs, 0) + row_number() OVER (PARTITION BY job.client ORDER BY created_at), created_at
       LIMIT $3`,
      [[...except.ids], this.idleMs / 1_000, limit, [...(except.clients ?? [])]],
    );
  }

  /**
   * Stores outcomes and claims further documents, in one transaction. The call that stores the last outcome ends the
   * job: `conclude` returns its end from all outcomes, in the order of the documents.
   */
  advance(
    share: JobShare,
    { ended, maxWeight }: { ended: readonly EndedDocument<Stored>[]; maxWeight: number },
    conclude: (outcomes: DocumentOutcome<Stored>[]) => JobEnd<Progress>,
  ): Promise<Advance> {
    return this.database.transaction(async (transaction) => {
      const job = await settle(transaction, share, ended);
      if (!job) return { state: 'unwanted' };
      if (job.isComplete) {
        await end(transaction, share, conclude);
        return { state: 'ended' };
      }
      if (!job.isWanted) return { state: 'unwanted' };
      const claimed = maxWeight > 0 ? await this.#claim(transaction, share, maxWeight) : [];
      return { state: 'open', claimed };
    });
  }

  /** Begins the last attempt of a claimed document. Other attempts begin with the claim. */
  async beginLastAttempt({ job, owner }: JobShare, position: number): Promise<void> {
    await this.database.execute(
      `UPDATE ingest_job_documents SET attempts = attempts + 1, renewed_at = now()
       WHERE job_id = $1 AND owner = $2 AND position = $3`,
      [job, owner, position],
    );
  }

  /** Renews claimed documents, and stores the progress of their job. False if the job has ended or is paused. */
  async renew({ job, owner }: JobShare, positions: readonly number[], progress: Progress): Promise<boolean> {
    const touched = await this.database.execute(
      `WITH renewed AS (
         UPDATE ingest_job_documents SET renewed_at = now()
         WHERE job_id = $1 AND owner = $2 AND position = ANY ($3::integer[]) AND state = 'running' RETURNING position
       )
       UPDATE ingest_jobs SET progress = $4, updated_at = now()
       WHERE id = $1 AND finished_at IS NULL AND state <> 'paused' AND (SELECT count(*) FROM renewed) >= 0`,
      [job, owner, [...positions], toPostgresJson(progress)],
    );
    return touched > 0;
  }

  /** Gives claimed documents back, so that another process can claim them at once. */
  async release({ job, owner }: JobShare): Promise<void> {
    await this.database.execute(
      `UPDATE ingest_job_documents SET state = 'waiting', owner = NULL, attempts = greatest(attempts - 1, 0)
       WHERE job_id = $1 AND owner = $2 AND state = 'running'`,
      [job, owner],
    );
  }

  #claim(transaction: Transaction, { job, owner }: JobShare, maxWeight: number): Promise<ClaimedDocument[]> {
    return transaction.query<ClaimedDocument>(
      `WITH free AS (
         SELECT position, weight, attempts FROM ingest_job_documents WHERE job_id = $1 AND ${isClaimable('$3')}
         ORDER BY position LIMIT ${maxClaimWeight} FOR UPDATE SKIP LOCKED
       ), counted AS (
         SELECT position, attempts, sum(weight) OVER (ORDER BY position) AS up_to FROM free
       )
       UPDATE ingest_job_documents AS document SET state = 'running', owner = $2, renewed_at = now(),
         attempts = document.attempts + CASE WHEN document.attempts < ${lastAttempt} THEN 1 ELSE 0 END
       FROM counted
       WHERE document.job_id = $1 AND document.position = counted.position AND up_to <= $4
       RETURNING document.position, document.weight, counted.attempts`,
      [job, owner, this.idleMs / 1_000, Math.min(maxWeight, maxClaimWeight)],
    );
  }
}

/** Condition for a document that waits, or has lost its process; the parameter has the seconds. */
function isClaimable(seconds: string): string {
  return `state <> 'ended' AND (state = 'waiting' OR renewed_at < now() - make_interval(secs => ${seconds}))`;
}

/** Counts outcomes of documents that this process still has. Undefined for a job that has ended. */
async function settle<Stored>(
  transaction: Transaction,
  { job, owner }: JobShare,
  ended: readonly EndedDocument<Stored>[],
): Promise<{ isComplete: boolean; isWanted: boolean } | undefined> {
  const [found] = await transaction.query<{ isComplete: boolean; isWanted: boolean }>(
    `WITH settled AS (
       UPDATE ingest_job_documents AS document SET state = 'ended', outcome = given.outcome
       FROM unnest($3::integer[], $4::jsonb[]) AS given (position, outcome)
       WHERE document.job_id = $1 AND document.owner = $2 AND document.position = given.position
         AND document.state = 'running'
       RETURNING document.position
     )
     UPDATE ingest_jobs SET ended_documents = ended_documents + (SELECT count(*) FROM settled), updated_at = now(),
       state = CASE state WHEN 'queued' THEN 'running' ELSE state END
     WHERE id = $1 AND finished_at IS NULL
     RETURNING ended_documents = documents AS "isComplete", state <> 'paused' AS "isWanted"`,
    [job, owner, ended.map(({ position }) => position), ended.map(({ outcome }) => toPostgresJson(outcome))],
  );
  return found;
}

async function end<Progress, Stored>(
  transaction: Transaction,
  { job }: JobShare,
  conclude: (outcomes: DocumentOutcome<Stored>[]) => JobEnd<Progress>,
): Promise<void> {
  const rows = await transaction.query<{ outcome: DocumentOutcome<Stored> }>(
    'SELECT outcome FROM ingest_job_documents WHERE job_id = $1 ORDER BY position',
    [job],
  );
  const { state, progress, error } = conclude(rows.map(({ outcome }) => outcome));
  await transaction.execute(
    `UPDATE ingest_jobs SET state = $2, progress = coalesce($3::jsonb, progress), error = $4::jsonb, updated_at = now(),
       finished_at = now() WHERE id = $1`,
    [job, state, progress ? toPostgresJson(progress) : null, error ? toPostgresJson(error) : null],
  );
  await transaction.execute('DELETE FROM ingest_job_documents WHERE job_id = $1', [job]);
}
