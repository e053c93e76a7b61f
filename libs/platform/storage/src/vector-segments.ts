import { createHash } from 'node:crypto';
import type { Transaction } from './transaction.js';
import { vectorIndexOf } from './vectors.js';

/** Chunks of one collection whose `arrival` is at least `from` and less than `to`. */
export interface ArrivalRange {
  from: number;
  to: number;
}

/** A range of a collection's chunks that has an HNSW index of its own. */
export interface VectorSegment extends ArrivalRange {
  /** Of the index. */
  name: string;
  /** Chunks in it when it was built or vacuumed. */
  rows: number;
  /** False while it is built, and where building it was interrupted. */
  isReady: boolean;
}

const namePrefix = 'chunks_hnsw_';

/**
 * How the names of a collection's indexes begin. They have at most 63 bytes, so a hash represents the collection. `h`
 * is for half precision: indexes of earlier versions, which have none, are dropped.
 */
export function segmentPrefix(collection: string, dimensions: number): string {
  const hash = createHash('sha256').update(collection).digest('hex').slice(0, 16);
  return `${namePrefix}${hash}_h${dimensions}_`;
}

/** The name of the index of a range. It holds the range: the catalog of Postgres is the only list of segments. */
export function segmentName(collection: string, dimensions: number, { from, to }: ArrivalRange): string {
  return `${segmentPrefix(collection, dimensions)}${from.toString(36)}_${to.toString(36)}`;
}

/** SQL condition on `arrival`, which the planner compares with the index's own. */
export function rangeCondition({ from, to }: ArrivalRange): string {
  const end = Number.isFinite(to) ? ` AND arrival < ${to}` : '';
  return `arrival >= ${from}${end}`;
}

/** Above this a graph is built with more care: its recall falls with its size otherwise. */
const carefulAbove = 10_000;
const construction = { usual: 'm = 16, ef_construction = 64', careful: 'm = 32, ef_construction = 200' };

/**
 * The expression and the condition of an index of about `rows` chunks. The expression has a cast, because the column
 * accepts vectors of every width.
 */
export function segmentDefinition(
  collection: string,
  dimensions: number,
  range: ArrivalRange,
  rows: number,
): string {
  const { expression, operatorClass } = vectorIndexOf(dimensions);
  const settings = rows > carefulAbove ? construction.careful : construction.usual;
  return `USING hnsw ((${expression}) ${operatorClass}) WITH (${settings})
    WHERE collection = ${quoteLiteral(collection)} AND vector_dims(embedding) = ${dimensions} AND ${rangeCondition(range)}`;
}

/** Quotes a string that cannot be a bound parameter. */
export function quoteLiteral(value: string): string {
  const quoted = `'${value.replaceAll("'", "''")}'`;
  return value.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted;
}

/** Names of all indexes of segments, and of those over all collections that earlier versions made. */
export async function listSegmentNames(transaction: Transaction): Promise<string[]> {
  const rows = await transaction.query<{ name: string }>(
    `SELECT relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE indrelid = 'chunks'::regclass AND (starts_with(relname::text, $1) OR starts_with(relname::text, $2))`,
    [namePrefix, 'chunks_embedding_'],
  );
  return rows.map(({ name }) => name);
}

/** The segments of a collection for vectors of one width, including segments that are not ready. */
export async function readSegments(
  transaction: Transaction,
  collection: string,
  dimensions: number,
): Promise<VectorSegment[]> {
  const prefix = segmentPrefix(collection, dimensions);
  const rows = await transaction.query<SegmentRow>(
    `SELECT relname AS name, reltuples AS rows, indisvalid AS ready
     FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE indrelid = 'chunks'::regclass AND starts_with(relname::text, $1)`,
    [prefix],
  );
  return segmentsIn(rows, prefix);
}

/** An index of the catalog. */
export interface SegmentRow {
  name: string;
  rows: number;
  ready: boolean;
}

/** The segments of indexes whose names begin with the prefix. */
export function segmentsIn(rows: readonly SegmentRow[], prefix: string): VectorSegment[] {
  return rows.map(({ name, rows: size, ready }) => {
    const [from = 0, to = 0] = name
      .slice(prefix.length)
      .split('_')
      .map((end) => Number.parseInt(end, 36));
    return { name, from, to, rows: Math.max(0, size), isReady: ready };
  });
}

/**
 * The segments that a search reads: ready ones in order of arrival, each beginning where the one before ends. Of two
 * that begin at one place the longer one: it was built to replace the other.
 */
export function coverOf(segments: readonly VectorSegment[]): VectorSegment[] {
  const cover: VectorSegment[] = [];
  for (let from = 0; ;) {
    const next = segments
      .filter((segment) => segment.isReady && segment.from === from && segment.to > from)
      .reduce<VectorSegment | undefined>(
        (best, each) => (best && best.to >= each.to ? best : each),
        undefined,
      );
    if (!next) return cover;
    cover.push(next);
    from = next.to;
  }
}
