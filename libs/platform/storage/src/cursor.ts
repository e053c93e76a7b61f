import { invalidField } from '#platform/contracts';
import type { SqlValue, Transaction } from './transaction.js';

/** A list in one table, ordered by its column `position`; `condition` uses `$1` to `$n` of `values`. */
export interface CursorList {
  table:
    'batches' | 'files' | 'vector_stores' | 'vector_store_files' | 'response_items' | 'conversation_items';
  /** The column with the ids of cursors. */
  idColumn: 'id' | 'file_id';
  columns: string;
  condition: string;
  values: readonly SqlValue[];
}

/** The requested page of a list, as in OpenAI's lists. */
export interface CursorRequest {
  limit: number;
  order: 'asc' | 'desc';
  /** Id of the item before the page. */
  after?: string;
  /** Id of the item after the page. */
  before?: string;
}

/** A page, and whether more rows follow. */
export interface CursorPage<Row> {
  rows: Row[];
  hasMore: boolean;
}

/**
 * Reads a page. With only `before`, the page ends directly before that item, as a client that pages back expects.
 * Errors: invalid_request for a cursor that is not in the list.
 */
export async function readCursorPage<Row extends object>(
  transaction: Transaction,
  list: CursorList,
  { limit, order, after, before }: CursorRequest,
): Promise<CursorPage<Row>> {
  const { table, columns, condition, values } = list;
  const bounds = [
    await positionOf(transaction, list, after, 'after'),
    await positionOf(transaction, list, before, 'before'),
  ];
  const [a, b, count] = [1, 2, 3].map((offset) => `$${values.length + offset}`);
  const [behind, ahead] = order === 'asc' ? ['>', '<'] : ['<', '>'];
  const backwards = before !== undefined && after === undefined;
  const direction = backwards === (order === 'asc') ? 'DESC' : 'ASC';
  const rows = await transaction.query<Row>(
    `SELECT ${columns} FROM ${table} WHERE ${condition}
       AND (${a}::bigint IS NULL OR position ${behind} ${a}) AND (${b}::bigint IS NULL OR position ${ahead} ${b})
     ORDER BY position ${direction} LIMIT ${count}`,
    [...values, ...bounds, limit + 1],
  );
  const page = rows.slice(0, limit);
  return { rows: backwards ? page.toReversed() : page, hasMore: rows.length > limit };
}

async function positionOf(
  transaction: Transaction,
  { table, idColumn, condition, values }: CursorList,
  id: string | undefined,
  param: string,
): Promise<string | null> {
  if (id === undefined) return null;
  const [row] = await transaction.query<{ position: string }>(
    `SELECT position FROM ${table} WHERE ${condition} AND ${idColumn} = $${values.length + 1}`,
    [...values, id],
  );
  if (row) return row.position;
  throw invalidField(param, `${id} is not in this list`);
}
