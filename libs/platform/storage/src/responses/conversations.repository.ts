import { invalidField } from '#platform/contracts';
import type { CursorRequest } from '../cursor.js';
import type { Database } from '../database.js';
import { toPostgresJson, toPostgresText, type Transaction } from '../transaction.js';
import { bytesOf, readItemPage, writeConversationItems, type ItemPage } from './response-items.repository.js';
import type { ItemRecord } from './stored-response.js';
import { requireRoom } from './kept-bounds.js';

export interface StoredConversation {
  id: string;
  metadata: Record<string, string>;
  createdAt: Date;
}

/** A page of a list of conversations. */
export interface ConversationPage {
  conversations: StoredConversation[];
  hasMore: boolean;
}

const columns = 'id, metadata, created_at AS "createdAt"';

/** Conversations and their items. An owner sees only their own conversations. */
export class ConversationsRepository {
  /** `maxBytes`: limit for the conversations and records of one owner; 0: unlimited. */
  constructor(
    private readonly database: Database,
    private readonly maxBytes = 0,
  ) {}

  /** Errors: payload_too_large if the owner has already reached the limit. */
  async requireRoom(owner: string): Promise<void> {
    await this.database.transaction((transaction) => this.#requireRoom(transaction, owner, []));
  }

  async #requireRoom(
    transaction: Transaction,
    owner: string,
    items: readonly ItemRecord[],
    rows = 0,
  ): Promise<void> {
    await requireRoom(transaction, owner, { maxBytes: this.maxBytes, more: bytesOf(items), rows });
  }

  /** Errors: payload_too_large. */
  async create(
    owner: string,
    { id, metadata, items }: { id: string; metadata: Record<string, string>; items: readonly ItemRecord[] },
  ): Promise<StoredConversation> {
    return this.database.transaction(async (transaction) => {
      await this.#requireRoom(transaction, owner, items, 1);
      const [created] = await transaction.query<StoredConversation>(
        `INSERT INTO conversations (id, owner, metadata) VALUES ($1, $2, $3) RETURNING ${columns}`,
        [id, owner, toPostgresJson(metadata)],
      );
      await writeConversationItems(transaction, { id, owner }, items);
      return created!;
    });
  }

  async find(owner: string, id: string): Promise<StoredConversation | undefined> {
    const [found] = await this.database.query<StoredConversation>(
      `SELECT ${columns} FROM conversations WHERE id = $1 AND owner = $2`,
      [id, owner],
    );
    return found;
  }

  /** Latest first; `after` is the id of the conversation before the page. Errors: invalid_request for an unknown id. */
  async list(owner: string, { limit, after }: { limit: number; after?: string }): Promise<ConversationPage> {
    const rows = await this.database.transaction(async (transaction) => {
      const start =
        after === undefined
          ? []
          : await transaction.query<StoredConversation>(
              `SELECT ${columns} FROM conversations WHERE id = $1 AND owner = $2`,
              [after, owner],
            );
      if (after !== undefined && start.length === 0)
        throw invalidField('after', `${after} is not in this list`);
      return transaction.query<StoredConversation>(
        `SELECT ${columns} FROM conversations WHERE owner = $1 AND ($2::text IS NULL OR
           (created_at, id) < (SELECT created_at, id FROM conversations WHERE id = $2))
         ORDER BY created_at DESC, id DESC LIMIT $3`,
        [owner, after ?? null, limit + 1],
      );
    });
    return { conversations: rows.slice(0, limit), hasMore: rows.length > limit };
  }

  /** The conversations whose metadata name the user, latest first. */
  async ofUser(owner: string, user: string, limit: number): Promise<StoredConversation[]> {
    return this.database.query<StoredConversation>(
      `SELECT ${columns} FROM conversations WHERE owner = $1 AND metadata ->> 'user' = $2
       ORDER BY created_at DESC, id DESC LIMIT $3`,
      [owner, toPostgresText(user), limit],
    );
  }

  /** Replaces all items of a conversation. Errors: payload_too_large. */
  async replaceItems(owner: string, id: string, items: readonly ItemRecord[]): Promise<void> {
    await this.database.transaction(async (transaction) => {
      await transaction.execute('DELETE FROM conversation_items WHERE conversation_id = $1 AND owner = $2', [
        id,
        owner,
      ]);
      await transaction.execute('UPDATE conversations SET bytes = 0 WHERE id = $1 AND owner = $2', [
        id,
        owner,
      ]);
      await this.#requireRoom(transaction, owner, items);
      await writeConversationItems(transaction, { id, owner }, items);
    });
  }

  /** Updates the metadata with a function of its current value, under a lock; undefined for an unknown conversation. */
  async updateMetadata(
    owner: string,
    id: string,
    change: (metadata: Record<string, string>) => Record<string, string>,
  ): Promise<StoredConversation | undefined> {
    return this.database.transaction(async (transaction) => {
      const [row] = await transaction.query<StoredConversation>(
        `SELECT ${columns} FROM conversations WHERE id = $1 AND owner = $2 FOR UPDATE`,
        [id, owner],
      );
      if (!row) return undefined;
      const metadata = change(row.metadata);
      await transaction.execute('UPDATE conversations SET metadata = $2 WHERE id = $1', [
        id,
        toPostgresJson(metadata),
      ]);
      return { ...row, metadata };
    });
  }

  /** Removes a conversation with its items; its responses stay. */
  async delete(owner: string, id: string): Promise<boolean> {
    const deleted = await this.database.execute('DELETE FROM conversations WHERE id = $1 AND owner = $2', [
      id,
      owner,
    ]);
    return deleted > 0;
  }

  /** Every item, oldest first. */
  async items(id: string): Promise<ItemRecord[]> {
    const rows = await this.database.query<{ item: ItemRecord }>(
      'SELECT item FROM conversation_items WHERE conversation_id = $1 ORDER BY position',
      [id],
    );
    return rows.map(({ item }) => item);
  }

  /** Errors: invalid_request for an unknown cursor. */
  async itemPage(id: string, page: CursorRequest): Promise<ItemPage> {
    const list = { table: 'conversation_items', condition: 'conversation_id = $1', values: [id] } as const;
    return readItemPage(this.database, list, page);
  }

  async findItem(id: string, itemId: string): Promise<ItemRecord | undefined> {
    const [row] = await this.database.query<{ item: ItemRecord }>(
      'SELECT item FROM conversation_items WHERE conversation_id = $1 AND id = $2',
      [id, itemId],
    );
    return row?.item;
  }

  /** Errors: payload_too_large. */
  async addItems(owner: string, id: string, items: readonly ItemRecord[]): Promise<void> {
    await this.database.transaction(async (transaction) => {
      await this.#requireRoom(transaction, owner, items);
      await writeConversationItems(transaction, { id, owner }, items);
    });
  }

  async deleteItem(id: string, itemId: string): Promise<boolean> {
    const deleted = await this.database.execute(
      `WITH gone AS (
         DELETE FROM conversation_items WHERE conversation_id = $1 AND id = $2
         RETURNING octet_length(item::text) AS bytes
       )
       UPDATE conversations SET bytes = conversations.bytes - gone.bytes, updated_at = now()
       FROM gone WHERE id = $1`,
      [id, itemId],
    );
    return deleted > 0;
  }

  /** Removes conversations that did not change for this time, and their chat histories. Returns the number of rows. */
  async deleteOlderThan(maxAgeMs: number): Promise<number> {
    const age = [maxAgeMs / 1_000];
    return this.database.transaction(async (transaction) => {
      const deleted = await transaction.execute(
        'DELETE FROM conversations WHERE updated_at < now() - make_interval(secs => $1)',
        age,
      );
      await transaction.execute(
        `DELETE FROM user_records WHERE kind = 'chathistory' AND updated_at < now() - make_interval(secs => $1)
           AND NOT EXISTS (SELECT 1 FROM conversations WHERE conversations.id = user_records.id)`,
        age,
      );
      return deleted;
    });
  }
}
