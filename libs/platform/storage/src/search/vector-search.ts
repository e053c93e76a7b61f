import { SqlParameters, type Transaction } from '../transaction.js';
import {
  coverOf,
  quoteLiteral,
  rangeCondition,
  type ArrivalRange,
  type VectorSegment,
} from '../vector-segments.js';
import { decodeVectorColumn, encodeVectorParameter, vectorIndexOf } from '../vectors.js';
import type { ChunkHit } from './chunk-search.js';
import { chunkCondition, type ChunkScope } from './metadata-filter.js';

/** `segments`: the collection's ranges with an index for vectors of this width. */
type VectorQuery = ChunkScope & { embedding: Float32Array; segments: readonly VectorSegment[] };

/** A hit, with its vector if requested. */
export interface NearestHit extends ChunkHit {
  embedding: Float32Array;
}

/** A chunk and its cosine distance. */
interface Candidate {
  id: string;
  distance: number;
}

/**
 * Returns the `limit` nearest chunks of a collection by cosine similarity, nearest first. Chunks with an index are
 * found through it, approximately. Later chunks are compared one by one, and so are all chunks if the filters leave
 * few. If an index returns fewer rows than requested, its chunks are compared one by one too, so the result is short
 * only if there are not more chunks. Only vectors of the query's size are compared.
 */
export async function findNearest(
  transaction: Transaction,
  query: VectorQuery,
  limit: number,
  withVectors = false,
): Promise<NearestHit[]> {
  const cover = coverOf(query.segments);
  const usesIndexes = cover.length > 0 && !(await isRare(transaction, query, cover));
  const indexed = usesIndexes ? await searchSegments(transaction, query, cover, limit) : [];
  const incomplete = cover.filter((_segment, index) => (indexed[index]?.length ?? 0) < limit);
  const behind = { from: usesIndexes ? (cover.at(-1)?.to ?? 0) : 0, to: Infinity };
  const compared = usesIndexes ? [...incomplete, behind] : [behind];
  const { text, parameters } = nearestStatement(query, {
    limit,
    withVectors,
    compared,
    candidates: nearestOf(indexed.flat(), limit),
  });
  const rows = await transaction.query<NearestRow>(text, parameters.values);
  return rows.map(({ distance, vector, ...row }) => ({
    ...row,
    score: 1 - distance,
    similarity: 1 - distance,
    embedding: vector === undefined ? new Float32Array() : decodeVectorColumn(vector),
  }));
}

interface NearestRow extends Candidate {
  text: string;
  metadata: Record<string, unknown>;
  vector?: string;
}

function nearestOf(candidates: Candidate[], limit: number): Candidate[] {
  return candidates.sort((left, right) => left.distance - right.distance).slice(0, limit);
}

/** So many chunks are compared one by one rather than looked for among all others. */
const fewChunks = 2_000;
/** In larger collections: this share of the chunks, below which an index visits about as many in vain. */
const fewOfAll = 0.02;

/**
 * True if filters leave few chunks, which are counted. The planner's estimate for a filter can be wrong by orders of
 * magnitude, and an index scan for 25 of 50,000 chunks visits nearly all of them.
 */
async function isRare(
  transaction: Transaction,
  scope: ChunkScope,
  cover: readonly VectorSegment[],
): Promise<boolean> {
  if (Object.keys(scope.filter ?? {}).length === 0 && !scope.attributeFilter) return false;
  const most = Math.max(fewChunks, Math.ceil(fewOfAll * sizeOf(cover)));
  const parameters = new SqlParameters();
  const collection = parameters.add(scope.collection);
  const condition = chunkCondition(scope, parameters);
  const [row] = await transaction.query<{ found: string }>(
    `SELECT count(*) AS found FROM (
       SELECT FROM chunks WHERE collection = ${collection} AND ${condition} LIMIT ${parameters.add(most + 1)}
     ) AS counted`,
    parameters.values,
  );
  return Number(row?.found) <= most;
}

const sizeOf = (segments: readonly VectorSegment[]) => segments.reduce((sum, { rows }) => sum + rows, 0);

const minSearchWidth = 100;
/** The maximum of pgvector. */
const maxSearchWidth = 1_000;
/** For constant recall the width grows about with the square root of the index (docs/benchmarks.md). */
const widthPerRoot = 3;

/**
 * Returns the number of candidates of each index scan (`hnsw.ef_search`): a higher number is slower and misses less.
 * `chunks`: the number of chunks of each segment. Each of many segments has few of the nearest chunks, and an index
 * finds its very nearest chunk more often than its tenth, so the width falls with the number of segments.
 */
export function searchWidth(limit: number, chunks: readonly number[]): number {
  const largest = Math.max(...chunks, 1);
  const all = chunks.reduce((sum, each) => sum + each, 1);
  const wanted = Math.round(widthPerRoot * Math.sqrt(largest) * (largest / all) ** 0.1);
  return Math.min(Math.max(minSearchWidth, limit * 2, wanted), maxSearchWidth);
}

/**
 * Settings of the index scans. They are iterative: they continue until enough rows match the filter. No sort: the
 * planner may take a scan of a range and a sort for cheaper than an index.
 */
const scanSettings = [
  'SET LOCAL hnsw.iterative_scan = relaxed_order',
  'SET LOCAL hnsw.max_scan_tuples = 20000',
  'SET LOCAL hnsw.scan_mem_multiplier = 8',
  'SET LOCAL enable_sort = off',
];

/**
 * Half precision cannot order very similar vectors, so this number of additional candidates is compared in full
 * precision.
 */
const spareCandidates = 20;

/** The nearest candidates of each segment, in the order of the segments. */
async function searchSegments(
  transaction: Transaction,
  query: VectorQuery,
  segments: readonly VectorSegment[],
  limit: number,
): Promise<Candidate[][]> {
  const width = searchWidth(
    limit,
    segments.map(({ rows }) => rows),
  );
  await transaction.query([...scanSettings, `SET LOCAL hnsw.ef_search = ${width}`].join('; '));
  const { text, parameters } = segmentsStatement(query, segments, limit + spareCandidates);
  const rows = await transaction.query<Candidate & { part: number }>(text, parameters.values);
  await transaction.query('SET LOCAL enable_sort = on');
  return segments.map((_segment, index) => rows.filter(({ part }) => part === index));
}

/** Each segment finds the nearest chunks by its index, in half precision. The stored vectors give the distances. */
function segmentsStatement(
  query: VectorQuery,
  segments: readonly ArrivalRange[],
  limit: number,
): { text: string; parameters: SqlParameters } {
  const { embedding, collection } = query;
  const parameters = new SqlParameters();
  const { expression, type } = vectorIndexOf(embedding.length);
  const target = `${parameters.add(encodeVectorParameter(embedding))}::vector`;
  const condition = chunkCondition(query, parameters);
  const count = parameters.add(limit);
  const parts = segments.map(
    (segment, index) => `
      SELECT id, ${index} AS part, embedding <=> ${target} AS distance FROM (
        SELECT id, embedding FROM chunks
        WHERE vector_dims(embedding) = ${embedding.length} AND collection = ${quoteLiteral(collection)}
          AND ${rangeCondition(segment)} AND ${condition}
        ORDER BY ${expression} <=> ${target}::${type} LIMIT ${count}
      ) AS nearest`,
  );
  return { text: parts.join(' UNION ALL '), parameters };
}

/** Inputs of the last statement of a search. */
interface NearestParts {
  limit: number;
  withVectors: boolean;
  /** Ranges whose chunks are compared one by one. */
  compared: readonly ArrivalRange[];
  /** Chunks that were found through indexes. */
  candidates: readonly Candidate[];
}

/** Compares chunks one by one, adds the candidates of the indexes, and reads the text of the nearest. */
function nearestStatement(
  query: VectorQuery,
  { limit, withVectors, compared, candidates }: NearestParts,
): { text: string; parameters: SqlParameters } {
  const { embedding, collection } = query;
  const parameters = new SqlParameters();
  const target = `${parameters.add(encodeVectorParameter(embedding))}::vector`;
  const ids = parameters.add(candidates.map(({ id }) => id));
  const distances = parameters.add(candidates.map(({ distance }) => distance));
  const count = parameters.add(limit);
  const ranges = compared.map((range) => `(${rangeCondition(range)})`).join(' OR ');
  // OFFSET keeps the planner from sorting by an index: these comparisons are exact.
  const text = `
    WITH compared AS (
      SELECT id, distance FROM (
        SELECT id, embedding <=> ${target} AS distance FROM chunks
        WHERE vector_dims(embedding) = ${embedding.length} AND collection = ${parameters.add(collection)}
          AND (${ranges}) AND ${chunkCondition(query, parameters)} OFFSET 0
      ) AS each ORDER BY distance, id LIMIT ${count}
    ), nearest AS MATERIALIZED (
      SELECT id, distance FROM compared
      UNION ALL SELECT id, distance FROM unnest(${ids}::uuid[], ${distances}::float8[]) AS found (id, distance)
      ORDER BY distance, id LIMIT ${count}
    )
    SELECT id, text, metadata, distance${withVectors ? ', embedding::text AS vector' : ''}
    FROM nearest JOIN chunks USING (id) ORDER BY distance, id`;
  return { text, parameters };
}
