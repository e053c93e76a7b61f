import { SqlParameters, type Transaction } from '../transaction.js';
import { chunkCondition, type ChunkScope } from './metadata-filter.js';
import { decodeVectorColumn, encodeVectorParameter, vectorIndexOf } from '../vectors.js';
import type { ChunkHit } from './chunk-search.js';

/** Up to this number of chunks a search is exact, which is faster than an index scan over all other chunks. */
export const exactLimit = 2_000;

/** Size of a vector search. */
export interface ScopeSize {
  /** The collection and the filters leave at most {@link exactLimit} chunks. */
  isSmall: boolean;
  /** Approximate number of chunks in all collections, which share the index. */
  indexedChunks: number;
}

/**
 * Counts the chunks that a search may return, up to a limit. The planner's estimate for a filter can be wrong by
 * orders of magnitude, and an index scan for 25 of 50,000 chunks visits nearly all of them.
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

const minSearchWidth = 100;
/** The maximum of pgvector. */
const maxSearchWidth = 1_000;
/** For constant recall the width grows about with the square root of the index (docs/benchmarks.md). */
const widthPerRoot = 2;

/**
 * Returns the number of candidates of the index scan (`hnsw.ef_search`): a higher number is slower and misses less.
 */
export function searchWidth(limit: number, indexedChunks: number): number {
  const wanted = Math.max(minSearchWidth, limit * 2, Math.round(widthPerRoot * Math.sqrt(indexedChunks)));
  return Math.min(wanted, maxSearchWidth);
}

type VectorQuery = ChunkScope & { embedding: Float32Array };

interface NearestRow {
  id: string;
  text: string;
  metadata: Record<string, unknown>;
  distance: number;
  vector?: string;
}

/** A hit, with its vector if requested. */
export interface NearestHit extends ChunkHit {
  embedding: Float32Array;
}

/**
 * Settings of the index scan. It is iterative: it continues until enough rows match the filter. The limits of
 * visited rows and memory are high, because the exact search after a short result costs more.
 */
const scanSettings = [
  'SET LOCAL hnsw.iterative_scan = relaxed_order',
  'SET LOCAL hnsw.max_scan_tuples = 200000',
  'SET LOCAL hnsw.scan_mem_multiplier = 8',
];
/**
 * Returns the `limit` nearest chunks of a collection by cosine similarity, nearest first. The search is exact if
 * the collection and the filters leave few chunks, otherwise approximate with the HNSW index. If the index returns
 * fewer rows than requested, an exact search follows, so that fewer rows mean that there are not more. Only vectors
 * of the query's size are compared.
 */
export async function findNearest(
  transaction: Transaction,
  query: VectorQuery,
  limit: number,
  withVectors = false,
): Promise<NearestHit[]> {
  const { isSmall, indexedChunks } = await measureScope(transaction, query);
  let rows: NearestRow[] = [];
  if (!isSmall) {
    const width = searchWidth(limit, indexedChunks);
    await transaction.query([...scanSettings, `SET LOCAL hnsw.ef_search = ${width}`].join('; '));
    rows = await selectNearest(transaction, query, limit, withVectors);
  }
  if (rows.length < limit) {
    await transaction.query('SET LOCAL enable_indexscan = off');
    rows = await selectNearest(transaction, query, limit, withVectors);
    await transaction.query('SET LOCAL enable_indexscan = on');
  }
  return rows.map(({ distance, vector, ...row }) => ({
    ...row,
    score: 1 - distance,
    similarity: 1 - distance,
    embedding: vector === undefined ? new Float32Array() : decodeVectorColumn(vector),
  }));
}

/** Returns the statement and its parameters; exported for the test of its plan. */
export function nearestStatement(
  query: VectorQuery,
  limit: number,
  withVectors: boolean,
): { text: string; parameters: SqlParameters } {
  const { embedding, collection } = query;
  const parameters = new SqlParameters();
  const { expression, type } = vectorIndexOf(embedding.length);
  const target = `${parameters.add(encodeVectorParameter(embedding))}::vector::${type}`;
  const text = `
    WITH nearest AS MATERIALIZED (
      SELECT id, text, metadata, ${expression} <=> ${target} AS distance${withVectors ? ', embedding::text AS vector' : ''}
      FROM chunks
      WHERE vector_dims(embedding) = ${embedding.length} AND collection = ${parameters.add(collection)}
        AND ${chunkCondition(query, parameters)}
      ORDER BY ${expression} <=> ${target}
      LIMIT ${parameters.add(limit)}
    )
    SELECT * FROM nearest ORDER BY distance + 0, id`;
  return { text, parameters };
}

async function selectNearest(
  transaction: Transaction,
  query: VectorQuery,
  limit: number,
  withVectors: boolean,
): Promise<NearestRow[]> {
  const { text, parameters } = nearestStatement(query, limit, withVectors);
  return transaction.query<NearestRow>(text, parameters.values);
}
