import type { Database } from './database.js';
import { vectorIndexOf } from './vectors.js';

const known = new WeakMap<Database, Set<number>>();

/**
 * Makes the HNSW index for vectors of this width where it is missing: a partial index over a cast, because the
 * column takes every width. In a transaction of its own, before the first chunk of that width is written: an index
 * made while others insert would wait for them, and they for it.
 */
export async function ensureVectorIndex(database: Database, dimensions: number): Promise<void> {
  const present = known.get(database) ?? new Set();
  if (present.has(dimensions)) return;
  const { name, expression, operatorClass } = vectorIndexOf(dimensions);
  if (operatorClass) {
    await database.transaction(async (transaction) => {
      await transaction.query('SET LOCAL statement_timeout = 0');
      await transaction.query('SELECT pg_advisory_xact_lock(hashtext($1))', [name]);
      const found = await transaction.query(
        'SELECT FROM pg_indexes WHERE schemaname = current_schema() AND indexname = $1',
        [name],
      );
      if (found.length > 0) return;
      await transaction.query(
        `CREATE INDEX ${name} ON chunks USING hnsw ((${expression}) ${operatorClass})
         WHERE vector_dims(embedding) = ${dimensions}`,
      );
    });
  }
  known.set(database, present.add(dimensions));
}
