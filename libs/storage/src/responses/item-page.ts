import { invalidField } from '#contracts';
import { toPostgresJson } from '../postgres-text.js';
import type { SqlValue, Transaction } from '../transaction.js';
import type { EventRecord, ItemRecord } from './stored-response.js';

/** Which part of a list is asked for, as OpenAI's lists are paged. */
export interface PageRequest {
  limit: number;
  order: 'asc' | 'desc';
  /** Id of the item that the page begins behind. */
  after?: string;
  /** Id of the item that the page ends before. */
  before?: string;
}

export interface ItemPage {
  items: ItemRecord[];
  hasMore: boolean;
}

/** A list of items in one table, ordered by `position`; `condition` uses `$1` to `$n` of `values`. */
export interface ItemList {
  table: 'response_items' | 'conversation_items';
  condition: string;
  values: readonly SqlValue[];
}

/** Reads a page. Errors: invalid_request for a cursor that is not in the list. */
export async function readItemPage(
  transaction: Transaction,
  { table, condition, values }: ItemList,
  { limit, order, after, before }: PageRequest,
): Promise<ItemPage> {
  const positionOf = async (id: string | undefined, param: string): Promise<string | null> => {
    if (id === undefined) return null;
    const [row] = await transaction.query<{ position: string }>(
      `SELECT position FROM ${table} WHERE ${condition} AND id = $${values.length + 1}`,
      [...values, id],
    );
    if (row) return row.position;
    throw invalidField(param, `${id} is not in this list`);
  };
  const [afterPosition, beforePosition] = [
    await positionOf(after, 'after'),
    await positionOf(before, 'before'),
  ];
  const [a, b, count] = [1, 2, 3].map((offset) => `$${values.length + offset}`);
  const [behind, ahead] = order === 'asc' ? ['>', '<'] : ['<', '>'];
  const rows = await transaction.query<{ item: ItemRecord }>(
    `SELECT item FROM ${table} WHERE ${condition}
       AND (${a}::bigint IS NULL OR position ${behind} ${a}) AND (${b}::bigint IS NULL OR position ${ahead} ${b})
     ORDER BY position ${order} LIMIT ${count}`,
    [...values, afterPosition, beforePosition, limit + 1],
  );
  return { items: rows.slice(0, limit).map(({ item }) => item), hasMore: rows.length > limit };
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
