import { SqlParameters, type Transaction } from '../transaction.js';
import { decodeVectorColumn, encodeVectorParameter, vectorIndexOf } from '../vectors.js';
import type { ChunkHit } from './chunk-search.js';
import { chunkCondition, type ChunkScope } from './metadata-filter.js';
import { measureScope, searchWidth } from './scope-size.js';

type VectorQuery = ChunkScope & { embedding: Float32Array };

interface NearestRow {
  id: string;
  text: string;
  metadata: Record<string, unknown>;
  distance: number;
  vector?: string;
}

/** A hit with its vector, where the search was asked for vectors. */
export interface NearestHit extends ChunkHit {
  embedding: Float32Array;
}

/**
 * Settings of the index scan. Iterative: it goes on until enough rows passed the filter. The limits on visited rows
 * and memory are wide, because the exact search that follows a short answer costs more.
 */
const scanSettings = [
  'SET LOCAL hnsw.iterative_scan = relaxed_order',
  'SET LOCAL hnsw.max_scan_tuples = 200000',
  'SET LOCAL hnsw.scan_mem_multiplier = 8',
];
/**
 * The `limit` nearest chunks of a collection by cosine, nearest first; score is the cosine similarity. Exact where the
 * collection and the filters leave few chunks, else approximate through the HNSW index; where the index gave fewer rows than asked for, once more exactly, so that fewer rows mean
 * that there are no more. Only chunks whose vectors have the query's width are compared.
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

/** The statement and its parameters; exported for the test that reads its plan. */
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
