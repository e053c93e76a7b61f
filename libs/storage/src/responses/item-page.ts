import { readCursorPage, type CursorList, type CursorRequest } from '../cursor.js';
import type { Database } from '../database.js';
import { toPostgresJson } from '../postgres-text.js';
import type { Transaction } from '../transaction.js';
import type { EventRecord, ItemRecord } from './stored-response.js';

export interface ItemPage {
  items: ItemRecord[];
  hasMore: boolean;
}

/** Reads a page of items. Errors: invalid_request for a cursor that is not in the list. */
export async function readItemPage(
  database: Database,
  list: Pick<CursorList, 'table' | 'condition' | 'values'>,
  page: CursorRequest,
): Promise<ItemPage> {
  const { rows, hasMore } = await database.transaction((transaction) =>
    readCursorPage<{ item: ItemRecord }>(transaction, { ...list, idColumn: 'id', columns: 'item' }, page),
  );
  return { items: rows.map(({ item }) => item), hasMore };
}

/** Writes the items of one side of a response, numbered in their order. */
export async function writeResponseItems(
  transaction: Transaction,
  response: { id: string; owner: string },
  direction: 'input' | 'output',
  items: readonly ItemRecord[],
): Promise<void> {
  if (items.length === 0) return;
  await transaction.execute(
    `INSERT INTO response_items (response_id, direction, position, owner, id, item)
     SELECT $1, $2, entry.position - 1, $3, entry.id, entry.item::json
     FROM unnest($4::text[], $5::text[]) WITH ORDINALITY AS entry (id, item, position)`,
    [response.id, direction, response.owner, items.map(({ id }) => id), items.map(toPostgresJson)],
  );
}

/** Appends items to a conversation; one whose id it holds already is left as it is. */
export async function writeConversationItems(
  transaction: Transaction,
  conversation: { id: string; owner: string },
  items: readonly ItemRecord[],
): Promise<void> {
  if (items.length === 0) return;
  await transaction.execute(
    `WITH added AS (
       INSERT INTO conversation_items (conversation_id, owner, id, item)
       SELECT $1, $2, entry.id, entry.item::json
       FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS entry (id, item, position)
       ORDER BY entry.position ON CONFLICT DO NOTHING
       RETURNING octet_length(item::text) AS bytes
     )
     UPDATE conversations SET updated_at = now(), bytes = bytes + (SELECT coalesce(sum(added.bytes), 0) FROM added)
     WHERE id = $1`,
    [conversation.id, conversation.owner, items.map(({ id }) => id), items.map(toPostgresJson)],
  );
}

/** What items take. */
export function bytesOf(items: readonly object[]): number {
  return items.reduce((sum, item) => sum + Buffer.byteLength(toPostgresJson(item)), 0);
}

/** Appends a piece of a response's log. Written again, because nobody knew whether it had been, it stays as it is. */
export async function writeEvents(
  transaction: Transaction,
  responseId: string,
  events: readonly EventRecord[],
): Promise<void> {
  const [first, last] = [events[0], events.at(-1)];
  if (!first || !last) return;
  await transaction.execute(
    `INSERT INTO response_events (response_id, first_sequence, last_sequence, events) VALUES ($1, $2, $3, $4)
     ON CONFLICT DO NOTHING`,
    [responseId, first.sequence_number, last.sequence_number, toPostgresJson(events)],
  );
}
