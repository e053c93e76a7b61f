import type { Database } from '../database.js';
import { toPostgresJson, type Transaction } from '../transaction.js';
import { KeptBounds, removeBeyond, type KeptLimits } from './kept-bounds.js';
import {
  responseColumns,
  type ItemRecord,
  type NewStoredResponse,
  type ResponseEnd,
  type StoredResponse,
} from './stored-response.js';
import { writeConversationItems, writeEvents, writeResponseItems } from './response-items.repository.js';

/** Starts, finishes, finds and deletes responses. An owner sees only their own responses. */
export class ResponsesRepository {
  readonly #bounds: KeptBounds;

  constructor(
    private readonly database: Database,
    private readonly limits: KeptLimits = { maxCount: 0, maxBytes: 0 },
  ) {
    this.#bounds = new KeptBounds(database, 'responses', limits);
  }

  /** Adds a running response; returns the existing response with its idempotency key, if any. */
  async insert(response: NewStoredResponse): Promise<StoredResponse | undefined> {
    return this.database.transaction((transaction) => insertResponse(transaction, response));
  }

  /** Adds a finished response; adding it again has no effect. */
  async insertFinished(response: NewStoredResponse, end: ResponseEnd): Promise<void> {
    const ended = await this.database.transaction(async (transaction) => {
      const found = await transaction.query('SELECT id FROM responses WHERE id = $1', [response.id]);
      if (found.length > 0) return undefined;
      await insertResponse(transaction, response);
      return finishResponse(transaction, { id: response.id, leaseOwner: response.lease.owner }, end);
    });
    if (ended) await this.#bounds.added(ended.owner, ended.bytes);
  }

  /** Ends a response, once; false if the caller has lost the lease, or the response was deleted. */
  async finish(id: string, leaseOwner: string, end: ResponseEnd): Promise<boolean> {
    const ended = await this.database.transaction((transaction) =>
      finishResponse(transaction, { id, leaseOwner }, end),
    );
    if (ended) await this.#bounds.added(ended.owner, ended.bytes);
    return ended !== undefined;
  }

  async find(owner: string, id: string): Promise<StoredResponse | undefined> {
    const [found] = await this.database.query<StoredResponse>(
      `SELECT ${responseColumns} FROM responses WHERE id = $1 AND owner = $2`,
      [id, owner],
    );
    return found;
  }

  /** Returns the response with an idempotency key. */
  async findByKey(owner: string, key: string): Promise<StoredResponse | undefined> {
    return this.database.transaction((transaction) => selectByKey(transaction, owner, key));
  }

  /** Removes a response with its items and its log; false if the owner does not have it. */
  async delete(owner: string, id: string): Promise<boolean> {
    const deleted = await this.database.execute('DELETE FROM responses WHERE id = $1 AND owner = $2', [
      id,
      owner,
    ]);
    return deleted > 0;
  }

  /**
   * Removes finished responses older than `maxAgeMs`, unless a younger response continues them: a chain lives as long
   * as its youngest response. Returns the number of removed responses.
   */
  async deleteOlderThan(maxAgeMs: number): Promise<number> {
    return this.database.execute(
      `WITH RECURSIVE kept AS (
         SELECT previous_response_id AS id FROM responses
         WHERE created_at >= now() - make_interval(secs => $1) AND previous_response_id IS NOT NULL
         UNION
         SELECT responses.previous_response_id FROM responses JOIN kept ON responses.id = kept.id
         WHERE responses.previous_response_id IS NOT NULL
       )
       DELETE FROM responses WHERE finished_at IS NOT NULL AND created_at < now() - make_interval(secs => $1)
         AND id NOT IN (SELECT id FROM kept)`,
      [maxAgeMs / 1_000],
    );
  }

  /** Removes the oldest finished responses of each owner beyond the limits. Returns their number. */
  async deleteBeyond(): Promise<number> {
    return this.database.transaction((transaction) => removeBeyond(transaction, 'responses', this.limits));
  }
}

/** Owner and bytes of a response that has just ended. */
interface EndedResponse {
  owner: string;
  bytes: number;
}

async function insertResponse(
  transaction: Transaction,
  response: NewStoredResponse,
): Promise<StoredResponse | undefined> {
  const { id, owner, idempotency, lease } = response;
  const inserted = await transaction.execute(
    `INSERT INTO responses (id, owner, previous_response_id, conversation_id, status, background, snapshot, request,
                            idempotency_key, fingerprint, lease_owner, lease_until)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now() + make_interval(secs => $12))
     ON CONFLICT (owner, idempotency_key) DO NOTHING`,
    [
      id,
      owner,
      response.previousResponseId,
      response.conversationId,
      response.status,
      response.background,
      toPostgresJson(response.snapshot),
      response.request && toPostgresJson(response.request),
      idempotency?.key ?? null,
      idempotency?.fingerprint ?? null,
      lease.owner,
      lease.ms / 1_000,
    ],
  );
  if (inserted > 0) {
    await writeResponseItems(transaction, { id, owner }, 'input', response.inputItems);
    return undefined;
  }
  return selectByKey(transaction, owner, idempotency?.key ?? null);
}

async function selectByKey(
  transaction: Transaction,
  owner: string,
  key: string | null,
): Promise<StoredResponse | undefined> {
  const [found] = await transaction.query<StoredResponse>(
    `SELECT ${responseColumns} FROM responses WHERE owner = $1 AND idempotency_key = $2`,
    [owner, key],
  );
  return found;
}

async function finishResponse(
  transaction: Transaction,
  { id, leaseOwner }: { id: string; leaseOwner: string },
  end: ResponseEnd,
): Promise<EndedResponse | undefined> {
  const [row] = await transaction.query<{ owner: string; conversation_id: string | null }>(
    `UPDATE responses SET status = $3, snapshot = $4, request = NULL, lease_until = NULL,
            finished_at = now()
     WHERE id = $1 AND lease_owner = $2 AND finished_at IS NULL RETURNING owner, conversation_id`,
    [id, leaseOwner, end.status, toPostgresJson(end.snapshot)],
  );
  if (!row) return wasFinishedBy(transaction, id, leaseOwner);
  await writeResponseItems(transaction, { id, owner: row.owner }, 'output', end.outputItems);
  await writeEvents(transaction, id, end.events);
  const bytes = await measure(transaction, id);
  if (row.conversation_id !== null && end.joinsConversation)
    await joinConversation(transaction, { id: row.conversation_id, owner: row.owner }, id);
  return { owner: row.owner, bytes };
}

/** Stores and returns the bytes of a response, with its items and its log. */
async function measure(transaction: Transaction, id: string): Promise<number> {
  const [row] = await transaction.query<{ bytes: number }>(
    `UPDATE responses SET bytes = octet_length(snapshot::text)
       + (SELECT coalesce(sum(octet_length(item::text)), 0) FROM response_items WHERE response_id = $1)
       + (SELECT coalesce(sum(octet_length(events::text)), 0) FROM response_events WHERE response_id = $1)
     WHERE id = $1 RETURNING bytes::float8 AS bytes`,
    [id],
  );
  return row!.bytes;
}

/** Set if the caller has already ended it but did not get the answer: its connection broke after the commit. */
async function wasFinishedBy(
  transaction: Transaction,
  id: string,
  leaseOwner: string,
): Promise<EndedResponse | undefined> {
  const [found] = await transaction.query<EndedResponse>(
    'SELECT owner, bytes::float8 AS bytes FROM responses WHERE id = $1 AND lease_owner = $2 AND finished_at IS NOT NULL',
    [id, leaseOwner],
  );
  return found;
}

/** Appends the items of a response to its conversation, unless the conversation was deleted in the meantime. */
async function joinConversation(
  transaction: Transaction,
  conversation: { id: string; owner: string },
  responseId: string,
): Promise<void> {
  const found = await transaction.query(
    'SELECT id FROM conversations WHERE id = $1 AND owner = $2 FOR UPDATE',
    [conversation.id, conversation.owner],
  );
  if (found.length === 0) return;
  const rows = await transaction.query<{ item: ItemRecord }>(
    'SELECT item FROM response_items WHERE response_id = $1 ORDER BY direction, position',
    [responseId],
  );
  const items = rows.map(({ item }) => item);
  await writeConversationItems(transaction, conversation, items);
}
