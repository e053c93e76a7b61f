import { invalidField } from '#platform/contracts';
import type { Database } from '../database.js';
import { toPostgresJson, type Transaction } from '../transaction.js';
import { KeptBounds, removeBeyond, type KeptLimits } from './kept-bounds.js';
import type { JsonObject } from './stored-response.js';

/** A chat completion and its request's messages. */
export interface StoredCompletion {
  id: string;
  model: string;
  completion: JsonObject;
  messages: JsonObject[];
  metadata: Record<string, string>;
}

/** Filters of a list of completions, which is in order of creation. */
export interface CompletionFilter {
  limit: number;
  order: 'asc' | 'desc';
  /** Id of the completion before the page. */
  after?: string;
  model?: string;
  /** Pairs that a completion's metadata must contain. */
  metadata: Record<string, string>;
}

const columns = 'id, model, completion, messages, metadata';

/** Stored chat completions. An owner sees only their own completions. */
export class StoredCompletionsRepository {
  readonly #bounds: KeptBounds;

  constructor(
    private readonly database: Database,
    private readonly limits: KeptLimits = { maxCount: 0, maxBytes: 0 },
  ) {
    this.#bounds = new KeptBounds(database, 'stored_completions', limits);
  }

  async insert(
    owner: string,
    { id, model, completion, messages, metadata }: StoredCompletion,
  ): Promise<void> {
    const texts = [completion, messages, metadata].map(toPostgresJson);
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    await this.database.execute(
      `INSERT INTO stored_completions (id, owner, model, bytes, completion, messages, metadata)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [id, owner, model, bytes, ...texts],
    );
    await this.#bounds.added(owner, bytes);
  }

  async find(owner: string, id: string): Promise<StoredCompletion | undefined> {
    const [found] = await this.database.query<StoredCompletion>(
      `SELECT ${columns} FROM stored_completions WHERE id = $1 AND owner = $2`,
      [id, owner],
    );
    return found;
  }

  /** Replaces the metadata; undefined if the owner does not have the completion. */
  async updateMetadata(
    owner: string,
    id: string,
    metadata: Record<string, string>,
  ): Promise<StoredCompletion | undefined> {
    const [changed] = await this.database.query<StoredCompletion>(
      `UPDATE stored_completions SET metadata = $3 WHERE id = $1 AND owner = $2 RETURNING ${columns}`,
      [id, owner, toPostgresJson(metadata)],
    );
    return changed;
  }

  async delete(owner: string, id: string): Promise<boolean> {
    const deleted = await this.database.execute(
      'DELETE FROM stored_completions WHERE id = $1 AND owner = $2',
      [id, owner],
    );
    return deleted > 0;
  }

  /** Returns a page, and whether more follow. Errors: invalid_request for an unknown cursor. */
  async list(
    owner: string,
    filter: CompletionFilter,
  ): Promise<{ completions: StoredCompletion[]; hasMore: boolean }> {
    const { limit, order, model, metadata } = filter;
    const rows = await this.database.transaction(async (transaction) => {
      const after = await positionOf(transaction, owner, filter.after);
      return transaction.query<StoredCompletion>(
        `SELECT ${columns} FROM stored_completions
         WHERE owner = $1 AND ($2::bigint IS NULL OR position ${order === 'asc' ? '>' : '<'} $2)
           AND ($3::text IS NULL OR model = $3) AND metadata @> $4
         ORDER BY position ${order} LIMIT $5`,
        [owner, after, model ?? null, toPostgresJson(metadata), limit + 1],
      );
    });
    return { completions: rows.slice(0, limit), hasMore: rows.length > limit };
  }

  /** Removes completions older than `maxAgeMs`. Returns their number. */
  async deleteOlderThan(maxAgeMs: number): Promise<number> {
    return this.database.execute(
      'DELETE FROM stored_completions WHERE created_at < now() - make_interval(secs => $1)',
      [maxAgeMs / 1_000],
    );
  }

  /** Removes the oldest completions of each owner beyond the limits. Returns their number. */
  async deleteBeyond(): Promise<number> {
    return this.database.transaction((transaction) =>
      removeBeyond(transaction, 'stored_completions', this.limits),
    );
  }
}

async function positionOf(
  transaction: Transaction,
  owner: string,
  id: string | undefined,
): Promise<string | null> {
  if (id === undefined) return null;
  const [row] = await transaction.query<{ position: string }>(
    'SELECT position FROM stored_completions WHERE id = $1 AND owner = $2',
    [id, owner],
  );
  if (row) return row.position;
  throw invalidField('after', `${id} is not in this list`);
}
