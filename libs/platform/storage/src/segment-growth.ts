import { isVisible } from './search/metadata-filter.js';
import type { Transaction } from './transaction.js';
import { coverOf, readSegments, type ArrivalRange, type VectorSegment } from './vector-segments.js';

/** How the chunks of a collection are indexed. */
export interface IndexingPolicy {
  isEmbedded: boolean;
  /** Chunks that are compared one by one before they get an index. */
  unindexed: number;
  /** So many segments of about one size are built again as one. */
  merged: number;
  /** Most chunks of one segment. */
  most: number;
  /** Most chunks whose words are counted in one transaction. */
  counted: number;
}

/** The embedded database has one session: all wait while an index is built. */
const embeddedPolicy: IndexingPolicy = {
  isEmbedded: true,
  unindexed: 2_000,
  merged: Infinity,
  most: 2_500,
  counted: 2_500,
};
const serverPolicy: IndexingPolicy = {
  isEmbedded: false,
  unindexed: 5_000,
  merged: 8,
  // Of a larger one the thousand candidates that pgvector keeps at most find less than is wanted.
  most: 125_000,
  counted: 100_000,
};
/** A graph that does not fit into `maintenance_work_mem` is built many times slower. */
export const buildMemoryMegabytes = 256;
/** Of a node beside its vector, with m = 32. */
const nodeBytes = 1_350;

/** The policy for a server, or for the embedded database. */
export async function readPolicy(transaction: Transaction): Promise<IndexingPolicy> {
  const [server] = await transaction.query<{ version: string }>('SELECT version()');
  return server?.version.includes('PGlite') ? embeddedPolicy : serverPolicy;
}

/** Chunks of a collection whose vectors have one width. */
export interface IndexedChunks {
  collection: string;
  dimensions: number;
}

/** A range that gets an index, and about how many chunks it has. */
export type PlannedSegment = ArrivalRange & { rows: number };

/** A change of the indexes. A build never comes with drops, since searches wait while an index is dropped. */
export interface IndexChange {
  build?: PlannedSegment;
  drop: string[];
}

/** A segment for the chunks that have none, once they are many; it takes the place of smaller ones before it. */
export async function planGrowth(
  transaction: Transaction,
  { collection, dimensions }: IndexedChunks,
  policy: IndexingPolicy,
): Promise<IndexChange> {
  const segments = await readSegments(transaction, collection, dimensions);
  const cover = coverOf(segments);
  // Those that a larger one has replaced.
  const drop = segments.filter((segment) => !cover.includes(segment)).map(({ name }) => name);
  if (drop.length > 0) return { drop };
  const from = cover.at(-1)?.to ?? 0;
  const most = Math.min(policy.most, mostInMemory(dimensions));
  const [tail] = await transaction.query<{ rows: string; last: string | null }>(
    `SELECT count(*) AS rows, max(arrival) AS last FROM (
       SELECT arrival FROM chunks WHERE collection = $1 AND arrival >= $2 AND ${isVisible} ORDER BY arrival LIMIT $3
     ) AS counted`,
    [collection, from, most],
  );
  const rows = Number(tail?.rows);
  if (rows < Math.min(policy.unindexed, most)) return { drop };
  const replaced = segmentsToMerge(cover, rows, { ...policy, most });
  const all = replaced.reduce((sum, segment) => sum + segment.rows, rows);
  return { build: { from: replaced[0]?.from ?? from, to: Number(tail?.last) + 1, rows: all }, drop };
}

/** Chunks whose graph fits into memory while it is built. */
export function mostInMemory(dimensions: number): number {
  return Math.floor((buildMemoryMegabytes * 1024 * 1024) / (2 * dimensions + nodeBytes));
}

/**
 * The last segments that are built again together with `rows` new chunks: all segments of about their size if there are
 * enough of them, or if one more would not fit, then segments of the next size. So a chunk is indexed a few times, and
 * a search reads few segments.
 */
export function segmentsToMerge(
  cover: readonly VectorSegment[],
  rows: number,
  { unindexed, merged, most }: Pick<IndexingPolicy, 'unindexed' | 'merged' | 'most'>,
): VectorSegment[] {
  const levelOf = (size: number) => Math.floor(Math.log(Math.max(size / unindexed, 1)) / Math.log(merged));
  let [taken, total] = [0, rows];
  for (;;) {
    let [more, size] = [0, total];
    for (let next = cover.at(-1 - taken); next; next = cover.at(-1 - taken - more)) {
      if (levelOf(next.rows) > levelOf(total) || size + next.rows > most) break;
      [more, size] = [more + 1, size + next.rows];
    }
    const isFull = size + total > most;
    if (more === 0 || (more + 1 < merged && !isFull)) return cover.slice(cover.length - taken);
    [taken, total] = [taken + more, size];
  }
}
