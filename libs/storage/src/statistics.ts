import type { Database } from './database.js';

/** Below this the planner's guesses do no harm. */
const leastRows = 500;

/**
 * Refreshes the planner's statistics of `chunks` once the table has grown or shrunk by half since the last time.
 * A Postgres server does so by itself in the background, PGlite does not, and without statistics the planner sorts
 * a whole collection instead of using the vector index.
 */
export async function analyzeIfGrown(database: Database): Promise<void> {
  await database.transaction(async (transaction) => {
    const [size] = await transaction.query<{ known: number; actual: string }>(
      `SELECT (SELECT reltuples FROM pg_class WHERE oid = 'chunks'::regclass) AS known,
              (SELECT coalesce(sum(chunk_count), 0) FROM documents) AS actual`,
    );
    const [known, actual] = [Math.max(Number(size?.known), 0), Number(size?.actual)];
    const stale = Math.max(known, actual) >= leastRows && (actual > known * 1.5 || known > actual * 1.5);
    if (stale)
      await transaction.query('ANALYZE chunks (document_id, collection, owner, metadata), documents');
  });
}
