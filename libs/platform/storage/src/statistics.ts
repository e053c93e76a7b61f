import type { Database } from './database.js';

/** Below this the planner's guesses do no harm. */
const minRows = 500;
/** Chunks between two looks: a look is a transaction of its own. */
const lookAfter = 100;

const written = new WeakMap<Database, number>();

/**
 * Refreshes the planner's statistics of `chunks` once the table has grown or shrunk by half since the last time. Called
 * with the chunks that were written just now.
 * A Postgres server does so by itself in the background, PGlite does not, and without statistics the planner sorts
 * a whole collection instead of using the vector index. Waits for no index that is being built: the build waits for
 * this transaction in turn.
 */
export async function analyzeIfGrown(database: Database, chunks: number): Promise<void> {
  const since = (written.get(database) ?? 0) + chunks;
  written.set(database, since < lookAfter ? since : 0);
  if (since < lookAfter) return;
  await database.transaction(async (transaction) => {
    const [size] = await transaction.query<{ known: number; actual: string }>(
      `SELECT (SELECT reltuples FROM pg_class WHERE oid = 'chunks'::regclass) AS known,
              (SELECT coalesce(sum(chunk_count), 0) FROM documents) AS actual`,
    );
    const [known, actual] = [Math.max(Number(size?.known), 0), Number(size?.actual)];
    const stale = Math.max(known, actual) >= minRows && (actual > known * 1.5 || known > actual * 1.5);
    if (stale)
      await transaction.query(
        'ANALYZE (SKIP_LOCKED) chunks (document_id, collection, arrival, owner, metadata), documents',
      );
  });
}
