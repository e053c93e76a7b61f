import { type CursorRequest, readCursorPage, type CursorList } from '../cursor.js';
import type { Database } from '../database.js';
import { toPostgresJson, type Transaction } from '../transaction.js';
import type { ItemRecord, EventRecord } from './stored-response.js';

export interface ItemPage {
  items: ItemRecord[];
  hasMore: boolean;
}

/** A response and its predecessors, as the context of the next response. */
export interface ResponseChain {
  /** Input and output of every link, oldest first. */
  items: ItemRecord[];
  /** Links that are not finished yet. */
  unfinished: string[];
  /** The link that the chain refers to and that no longer exists. */
  missing: string | null;
}

/**
 * Settings for reading a chain by its keys. Without statistics (PGlite never collects them) the planner would read the
 * whole table for each link.
 */
const linkByLink =
  'SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off';

/** The items of all responses and conversations, by their public ids. */
export class ResponseItemsRepository {
  constructor(private readonly database: Database) {}

  /** Returns the whole chain that ends with a response; undefined if the owner does not have it. */
  async chain(owner: string, id: string): Promise<ResponseChain | undefined> {
    const rows = await this.database.transaction(async (transaction) => {
      await transaction.query(linkByLink);
      return transaction.query<ChainRow>(
        `WITH RECURSIVE chain AS (
           SELECT id, previous_response_id, finished_at, 0 AS depth FROM responses WHERE id = $2 AND owner = $1
           UNION ALL
           SELECT r.id, r.previous_response_id, r.finished_at, chain.depth + 1
           FROM chain JOIN responses r ON r.id = chain.previous_response_id AND r.owner = $1
         )
         SELECT chain.id, chain.previous_response_id, chain.finished_at IS NOT NULL AS finished,
                (SELECT json_agg(i.item ORDER BY i.direction, i.position) FROM response_items i
                 WHERE i.response_id = chain.id) AS items
         FROM chain ORDER BY chain.depth DESC`,
        [owner, id],
      );
    });
    const [oldest] = rows;
    if (!oldest) return undefined;
    return {
      items: rows.flatMap(({ items }) => items ?? []),
      unfinished: rows.filter(({ finished }) => !finished).map((row) => row.id),
      missing: oldest.previous_response_id,
    };
  }

  /** Returns a page of a response's input. Errors: invalid_request for an unknown cursor. */
  async inputPage(responseId: string, page: CursorRequest): Promise<ItemPage> {
    const condition = `response_id = $1 AND direction = 'input'`;
    return readItemPage(this.database, { table: 'response_items', condition, values: [responseId] }, page);
  }

  /** Returns items by id from any conversation or response: conversations take precedence, then the latest response. */
  async findByIds(owner: string, ids: readonly string[]): Promise<Map<string, ItemRecord>> {
    if (ids.length === 0) return new Map();
    const rows = await this.database.query<{ id: string; item: ItemRecord }>(
      `(SELECT i.id, i.item FROM response_items i JOIN responses r ON r.id = i.response_id
       WHERE i.id = ANY($2) AND i.owner = $1 ORDER BY r.created_at)
       UNION ALL SELECT id, item FROM conversation_items WHERE id = ANY($2) AND owner = $1`,
      [owner, ids],
    );
    return new Map(rows.map(({ id, item }) => [id, item]));
  }
}

interface ChainRow {
  id: string;
  previous_response_id: string | null;
  finished: boolean;
  items: ItemRecord[] | null;
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

/** Writes the input or the output items of a response, numbered in their order. */
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

/** Appends items to a conversation; an item with an existing id does not change. */
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

/** Returns the bytes of items. */
export function bytesOf(items: readonly object[]): number {
  return items.reduce((sum, item) => sum + Buffer.byteLength(toPostgresJson(item)), 0);
}

/** Appends a piece of a response's log. Writing it again, after an unknown outcome, has no effect. */
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
