import { invalidField } from '#contracts';
import type { SqlValue, Transaction } from '../transaction.js';
import type { ItemRecord } from './stored-response.js';

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
