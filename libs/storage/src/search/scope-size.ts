import { SqlParameters, type Transaction } from '../transaction.js';
import { chunkCondition, type ChunkScope } from './metadata-filter.js';

/** Up to so many chunks are compared one by one: exact, and faster than an index that has to pass over all others. */
export const exactLimit = 2_000;

/** How much a search by vectors has to do. */
export interface ScopeSize {
  /** The collection and the filters leave at most {@link exactLimit} chunks. */
  isSmall: boolean;
  /** Chunks of all collections together, about: they share the index. */
  indexedChunks: number;
}

/**
 * Counts what a search may find, up to a limit: the planner's guess of how many chunks a filter leaves may be wrong by
 * orders of magnitude, and an index scan for 25 of 50,000 visits nearly all.
 */
export async function measureScope(transaction: Transaction, scope: ChunkScope): Promise<ScopeSize> {
  const parameters = new SqlParameters();
  const collection = parameters.add(scope.collection);
  const condition = chunkCondition(scope, parameters);
  const limit = parameters.add(exactLimit + 1);
  const [row] = await transaction.query<{ found: string; indexed: number }>(
    `SELECT (SELECT count(*) FROM (
               SELECT FROM chunks WHERE collection = ${collection} AND ${condition} LIMIT ${limit}
             ) AS counted) AS found,
            (SELECT reltuples FROM pg_class WHERE oid = 'chunks'::regclass) AS indexed`,
    parameters.values,
  );
  return { isSmall: Number(row?.found) <= exactLimit, indexedChunks: Math.max(0, Number(row?.indexed)) };
}

const leastWidth = 100;
/** The greatest that pgvector takes. */
const greatestWidth = 1_000;
/** The width that keeps recall grows about with the square root of the index (docs/benchmarks.md). */
const widthPerRoot = 2;

/** Candidates that the index keeps while it searches (`hnsw.ef_search`): more is slower and misses less. */
export function searchWidth(limit: number, indexedChunks: number): number {
  const wanted = Math.max(leastWidth, limit * 2, Math.round(widthPerRoot * Math.sqrt(indexedChunks)));
  return Math.min(wanted, greatestWidth);
}
