import type { Transaction } from '../transaction.js';
import { quoteLiteral } from '../vector-segments.js';

/** In smaller collections a search counts the words of its query itself. */
export const minCounted = 2_000;
/**
 * New chunks are counted once they are this share of the counted ones: so the total work grows with the chunks alone.
 */
export const growthShare = 0.25;
/** Words of fewer chunks of a range are as good as unknown: most words of a large text are of this kind. */
const minFrequency = 3;

/**
 * Counts the words of chunks that came since the last time, `most` at a time; returns true if it counted any. Chunks
 * that were deleted stay in the counts, which say how frequent a word is in relation to all; once they are most of
 * them, counting begins again. One process at a time may call it.
 */
export async function countWords(
  transaction: Transaction,
  collection: string,
  most: number,
): Promise<boolean> {
  const counted = await readCounted(transaction, collection);
  if (counted.chunks > Math.max(2 * counted.stored, minCounted)) {
    await transaction.query('DELETE FROM word_counts WHERE collection = $1', [collection]);
    return counted.stored >= minCounted;
  }
  const least = Math.min(counted.chunks > 0 ? counted.chunks * growthShare : minCounted, most);
  const [next] = await transaction.query<{ chunks: string; last: string | null }>(
    `SELECT count(*) AS chunks, max(arrival) AS last FROM (
       SELECT arrival FROM chunks WHERE collection = $1 AND arrival >= $2 ORDER BY arrival LIMIT $3
     ) AS next`,
    [collection, counted.to, most],
  );
  if (!next || Number(next.chunks) < least) return false;
  const to = Number(next.last) + 1;
  // More than `most` if chunks share an arrival, which chunks from before the numbering do.
  await transaction.query(
    `INSERT INTO word_counts AS known (collection, counted_to, chunks, lexemes)
     SELECT $1, $3, count(*), coalesce(sum(length(search)), 0) FROM chunks
     WHERE collection = $1 AND arrival >= $2 AND arrival < $3
     ON CONFLICT (collection) DO UPDATE SET counted_to = excluded.counted_to,
       chunks = known.chunks + excluded.chunks, lexemes = known.lexemes + excluded.lexemes`,
    [collection, counted.to, to],
  );
  const chunks = `SELECT search FROM chunks
    WHERE collection = ${quoteLiteral(collection)} AND arrival >= ${counted.to} AND arrival < ${to}`;
  await transaction.query(
    `INSERT INTO counted_words AS known (collection, lexeme, chunks)
     SELECT $1, word, ndoc FROM ts_stat($2) WHERE ndoc >= $3
     ON CONFLICT (collection, lexeme) DO UPDATE SET chunks = known.chunks + excluded.chunks`,
    [collection, chunks, minFrequency],
  );
  return true;
}

/** Up to which arrival the words are counted, of how many chunks, and how many chunks are stored. */
async function readCounted(
  transaction: Transaction,
  collection: string,
): Promise<{ to: number; chunks: number; stored: number }> {
  const [row] = await transaction.query<{ to: string | null; chunks: string | null; stored: string }>(
    `SELECT counted_to AS to, chunks, (
       SELECT coalesce(sum(chunk_count), 0) FROM documents WHERE collection = $1 AND pending_since IS NULL
     ) AS stored FROM (SELECT) AS one LEFT JOIN word_counts ON collection = $1`,
    [collection],
  );
  return { to: Number(row?.to ?? 0), chunks: Number(row?.chunks ?? 0), stored: Number(row?.stored) };
}

/** Removes the counts of collections that are not among `collections`. */
export async function forgetWords(transaction: Transaction, collections: readonly string[]): Promise<void> {
  await transaction.query('DELETE FROM word_counts WHERE collection <> ALL ($1::text[])', [collections]);
}
