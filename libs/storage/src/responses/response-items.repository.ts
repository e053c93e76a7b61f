import type { CursorRequest } from '../cursor.js';
import type { Database } from '../database.js';
import { readItemPage, type ItemPage } from './item-page.js';
import type { ItemRecord } from './stored-response.js';

/** A response and those before it, as the context of the next one. */
export interface ResponseChain {
  /** Input and output of every link, oldest first. */
  items: ItemRecord[];
  /** Links that are not finished yet. */
  unfinished: string[];
  /** The link that the chain refers to and that no longer exists. */
  missing: string | null;
}

/**
 * A chain is followed by its keys. Without statistics (PGlite never gathers them) the planner would rather read the
 * whole table once for each link.
 */
const linkByLink =
  'SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off';

/** The items of all responses and conversations, under the ids that clients know. */
export class ResponseItemsRepository {
  constructor(private readonly database: Database) {}

  /** The whole chain that ends with a response; undefined where the owner has none of that id. */
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

  /** A page of what a response was given. Errors: invalid_request for an unknown cursor. */
  async inputPage(responseId: string, page: CursorRequest): Promise<ItemPage> {
    const condition = `response_id = $1 AND direction = 'input'`;
    return readItemPage(this.database, { table: 'response_items', condition, values: [responseId] }, page);
  }

  /** Items by their ids, wherever they belong: what a conversation holds goes first, then the latest response. */
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
