import { readCursorPage, type CursorPage, type CursorRequest } from '../cursor.js';
import type { Database } from '../database.js';
import { toPostgresJson, type Transaction } from '../transaction.js';
import type {
  AnsweredRequest,
  BatchDialect,
  BatchProblem,
  BatchRequest,
  BatchResult,
  BatchStatus,
  NewBatch,
  RequestState,
  StoredBatch,
} from './batch.js';

const columns = `id, owner, dialect, caller, endpoint, input_file_id AS "inputFileId",
  completion_window AS "completionWindow", metadata, output_seconds AS "outputSeconds", status, total, completed, failed,
  errors, output_file_id AS "outputFileId", error_file_id AS "errorFileId", times, created_at AS "createdAt",
  expires_at AS "expiresAt", finished_at AS "finishedAt"`;

/** States in which nothing happens any more. */
const finalStates: ReadonlySet<BatchStatus> = new Set(['failed', 'completed', 'expired', 'cancelled']);

/** Answers that are read at once. */
const pageSize = 200;

/** What a step of the work changes. */
export interface BatchChange {
  status: BatchStatus;
  errors?: readonly BatchProblem[];
  outputFileId?: string | null;
  errorFileId?: string | null;
}

/**
 * Batches and their requests. An owner sees only their own batches. A process works on a batch while it has its lease;
 * each write of the work checks it.
 */
export class BatchesRepository {
  constructor(private readonly database: Database) {}

  /** Stores a batch, with its requests if they are known. */
  async create(owner: string, batch: NewBatch, requests: readonly BatchRequest[] = []): Promise<StoredBatch> {
    return this.database.transaction(async (transaction) => {
      const status: BatchStatus = batch.dialect === 'openai' ? 'validating' : 'in_progress';
      const [created] = await transaction.query<StoredBatch>(
        `INSERT INTO batches (id, owner, dialect, caller, endpoint, input_file_id, completion_window, metadata,
           output_seconds, status, expires_at, times)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text, now() + make_interval(secs => $11),
           jsonb_build_object($10::text, extract(epoch FROM now())::int))
         RETURNING ${columns}`,
        [
          batch.id,
          owner,
          batch.dialect,
          toPostgresJson(batch.caller),
          batch.endpoint,
          batch.inputFileId,
          batch.completionWindow,
          batch.metadata && toPostgresJson(batch.metadata),
          batch.outputSeconds,
          status,
          batch.windowSeconds,
        ],
      );
      await insertRequests(transaction, batch.id, requests);
      return { ...created!, total: requests.length };
    });
  }

  async find(owner: string, dialect: BatchDialect, id: string): Promise<StoredBatch | undefined> {
    const [found] = await this.database.query<StoredBatch>(
      `SELECT ${columns} FROM batches WHERE id = $1 AND owner = $2 AND dialect = $3`,
      [id, owner, dialect],
    );
    return found;
  }

  /** Errors: invalid_request for an unknown cursor. */
  async list(owner: string, dialect: BatchDialect, page: CursorRequest): Promise<CursorPage<StoredBatch>> {
    const list = {
      table: 'batches' as const,
      idColumn: 'id' as const,
      columns,
      condition: 'owner = $1 AND dialect = $2',
      values: [owner, dialect],
    };
    return this.database.transaction((transaction) => readCursorPage<StoredBatch>(transaction, list, page));
  }

  /** The number of an owner's batches that are not finished. */
  async countUnfinished(owner: string): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM batches WHERE owner = $1 AND finished_at IS NULL',
      [owner],
    );
    return row?.count ?? 0;
  }

  /** Asks for the end of a batch; undefined if the owner has none. A finished one stays as it is. */
  async cancel(owner: string, dialect: BatchDialect, id: string): Promise<StoredBatch | undefined> {
    await this.database.execute(
      `UPDATE batches SET status = 'cancelling',
         times = times || jsonb_build_object('cancelling', extract(epoch FROM now())::int)
       WHERE id = $1 AND owner = $2 AND dialect = $3 AND status IN ('validating', 'in_progress')`,
      [id, owner, dialect],
    );
    return this.find(owner, dialect, id);
  }

  /** Deletes a finished batch with its answers; false if there is none. */
  async delete(owner: string, dialect: BatchDialect, id: string): Promise<boolean> {
    const deleted = await this.database.execute(
      'DELETE FROM batches WHERE id = $1 AND owner = $2 AND dialect = $3 AND finished_at IS NOT NULL',
      [id, owner, dialect],
    );
    return deleted > 0;
  }

  /** Deletes batches that were finished so long ago. Returns their number. */
  async deleteOlderThan(maxAgeMs: number): Promise<number> {
    return this.database.execute(
      'DELETE FROM batches WHERE finished_at < now() - make_interval(secs => $1)',
      [maxAgeMs / 1_000],
    );
  }

  /** Takes unfinished batches that no process works on, the oldest first. */
  async claim(
    leaseOwner: string,
    leaseMs: number,
    { limit, working }: { limit: number; working: readonly string[] },
  ): Promise<StoredBatch[]> {
    return this.database.query<StoredBatch>(
      `UPDATE batches SET lease_owner = $1, lease_until = now() + make_interval(secs => $2)
       WHERE id IN (SELECT id FROM batches WHERE finished_at IS NULL AND lease_until <= now() AND id <> ALL($4)
                    ORDER BY position LIMIT $3 FOR UPDATE SKIP LOCKED)
       RETURNING ${columns}`,
      [leaseOwner, leaseMs / 1_000, limit, working],
    );
  }

  /** Extends the lease; returns the batch as it is now, or undefined if the lease is lost. */
  async heartbeat(id: string, leaseOwner: string, leaseMs: number): Promise<StoredBatch | undefined> {
    const [held] = await this.database.query<StoredBatch>(
      `UPDATE batches SET lease_until = now() + make_interval(secs => $3)
       WHERE id = $1 AND lease_owner = $2 AND finished_at IS NULL RETURNING ${columns}`,
      [id, leaseOwner, leaseMs / 1_000],
    );
    return held;
  }

  /** Releases leases, so that another process goes on at once. */
  async release(ids: readonly string[], leaseOwner: string): Promise<void> {
    await this.database.execute(
      'UPDATE batches SET lease_until = now() WHERE id = ANY($1) AND lease_owner = $2 AND finished_at IS NULL',
      [ids, leaseOwner],
    );
  }

  /** Replaces the requests of a batch that is validated; false if the lease is lost. */
  async putRequests(
    id: string,
    leaseOwner: string,
    requests: AsyncIterable<readonly BatchRequest[]>,
  ): Promise<boolean> {
    if (!(await this.#holds(this.database, id, leaseOwner))) return false;
    await this.database.execute('DELETE FROM batch_requests WHERE batch_id = $1', [id]);
    await this.database.execute('UPDATE batches SET total = 0 WHERE id = $1', [id]);
    for await (const group of requests) {
      const held = await this.database.transaction(async (transaction) => {
        if (!(await this.#holds(transaction, id, leaseOwner))) return false;
        await insertRequests(transaction, id, group);
        return true;
      });
      if (!held) return false;
    }
    return true;
  }

  /** The next requests that wait, without those that run. */
  async waiting(id: string, limit: number, running: readonly number[]): Promise<BatchRequest[]> {
    return this.database.query<BatchRequest>(
      `SELECT line, custom_id AS "customId", body FROM batch_requests
       WHERE batch_id = $1 AND state = 'waiting' AND line <> ALL($3) ORDER BY line LIMIT $2`,
      [id, limit, running],
    );
  }

  /** Keeps an answer, once; false if the lease is lost. */
  async answer(
    id: string,
    leaseOwner: string,
    { line, state, result }: { line: number; state: 'succeeded' | 'failed'; result: BatchResult },
  ): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      if (!(await this.#holds(transaction, id, leaseOwner))) return false;
      const kept = await transaction.execute(
        `UPDATE batch_requests SET state = $3, result = $4 WHERE batch_id = $1 AND line = $2 AND state = 'waiting'`,
        [id, line, state, toPostgresJson(result)],
      );
      if (kept > 0) await countAnswers(transaction, id, state, kept);
      return true;
    });
  }

  /** Ends the requests that still wait, because the batch is cancelled or expired. */
  async endWaiting(id: string, state: 'cancelled' | 'expired'): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const ended = await transaction.execute(
        `UPDATE batch_requests SET state = $2 WHERE batch_id = $1 AND state = 'waiting'`,
        [id, state],
      );
      if (ended > 0) await countAnswers(transaction, id, state, ended);
    });
  }

  /**
   * Changes the state of a batch; a final state also ends its lease. Undefined if the lease is lost, or
   * if somebody cancelled the batch meanwhile.
   */
  async advance(id: string, leaseOwner: string, change: BatchChange): Promise<StoredBatch | undefined> {
    const isFinal = finalStates.has(change.status);
    const [changed] = await this.database.query<StoredBatch>(
      `UPDATE batches SET status = $3::text,
         times = times || jsonb_build_object($3::text, extract(epoch FROM now())::int),
         errors = coalesce($4, errors), output_file_id = coalesce($5, output_file_id),
         error_file_id = coalesce($6, error_file_id), finished_at = CASE WHEN $7 THEN now() END
       WHERE id = $1 AND lease_owner = $2 AND finished_at IS NULL
           AND (status <> 'cancelling' OR $3 = 'cancelled') RETURNING ${columns}`,
      [
        id,
        leaseOwner,
        change.status,
        change.errors ? toPostgresJson(change.errors) : null,
        change.outputFileId ?? null,
        change.errorFileId ?? null,
        isFinal,
      ],
    );
    return changed;
  }

  /** The answered requests in their order, without those that wait. */
  async *answers(id: string, states?: readonly RequestState[]): AsyncGenerator<AnsweredRequest> {
    for (let after = -1; ;) {
      const rows = await this.database.query<AnsweredRequest>(
        `SELECT line, custom_id AS "customId", state, result FROM batch_requests
         WHERE batch_id = $1 AND line > $2 AND state <> 'waiting' AND ($3::text[] IS NULL OR state = ANY($3))
         ORDER BY line LIMIT ${pageSize}`,
        [id, after, states ? [...states] : null],
      );
      yield* rows;
      const last = rows.at(-1);
      if (!last || rows.length < pageSize) return;
      after = last.line;
    }
  }

  /** The number of requests by state. */
  async counts(id: string): Promise<Partial<Record<RequestState, number>>> {
    const rows = await this.database.query<{ state: RequestState; count: number }>(
      'SELECT state, count(*)::int AS count FROM batch_requests WHERE batch_id = $1 GROUP BY state',
      [id],
    );
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  }

  async #holds(within: Pick<Transaction, 'query'>, id: string, leaseOwner: string): Promise<boolean> {
    const rows = await within.query(
      'SELECT id FROM batches WHERE id = $1 AND lease_owner = $2 AND finished_at IS NULL FOR UPDATE',
      [id, leaseOwner],
    );
    return rows.length > 0;
  }
}

async function countAnswers(
  transaction: Transaction,
  id: string,
  state: RequestState,
  count: number,
): Promise<void> {
  const column = state === 'succeeded' ? 'completed' : 'failed';
  await transaction.execute(`UPDATE batches SET ${column} = ${column} + $2 WHERE id = $1`, [id, count]);
}

async function insertRequests(
  transaction: Transaction,
  id: string,
  requests: readonly BatchRequest[],
): Promise<void> {
  if (requests.length === 0) return;
  await transaction.execute(
    `INSERT INTO batch_requests (batch_id, line, custom_id, body)
     SELECT $1, * FROM unnest($2::int[], $3::text[], $4::json[])`,
    [
      id,
      requests.map(({ line }) => line),
      requests.map(({ customId }) => customId),
      requests.map(({ body }) => toPostgresJson(body)),
    ],
  );
  await transaction.execute('UPDATE batches SET total = total + $2 WHERE id = $1', [id, requests.length]);
}
