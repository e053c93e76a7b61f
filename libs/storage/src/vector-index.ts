import type { Database } from './database.js';
import { exactLimit } from './search/vector-search.js';
import { vectorIndexOf } from './vectors.js';

/** Chunks that are written between two looks: a look is a transaction of its own. */
const lookAfter = 100;
/** Chunks of one document that are written before the index is made; to make one for more takes seconds. */
const mostUnindexed = 5_000;

const known = new WeakMap<Database, Set<number>>();
const written = new WeakMap<Database, number>();

/**
 * Makes the HNSW index for vectors of this width once there are more chunks than a search compares one by one: in one go
 * it costs a fifth of what it costs chunk by chunk. Called with the chunks that were written just now, outside of a
 * transaction that has written any.
 */
export async function indexIfGrown(database: Database, dimensions: number, chunks: number): Promise<void> {
  if (known.get(database)?.has(dimensions)) return;
  const since = (written.get(database) ?? lookAfter) + chunks;
  written.set(database, since < lookAfter ? since : 0);
  if (since < lookAfter) return;
  const [row] = await database.transaction((transaction) =>
    transaction.query<{ chunks: string }>(
      'SELECT coalesce(sum(chunk_count), 0) AS chunks FROM documents WHERE embedding_dimensions = $1',
      [dimensions],
    ),
  );
  if (Number(row?.chunks) > exactLimit) await ensureVectorIndex(database, dimensions);
}

/** Hands the parts of a document on; makes the index while a very large one is written. */
export async function* indexingParts<Chunk>(
  database: Database,
  dimensions: number,
  parts: AsyncIterable<Chunk[]>,
): AsyncGenerator<Chunk[], void, void> {
  let unindexed = 0;
  for await (const part of parts) {
    yield part;
    // The part before is committed.
    unindexed += part.length;
    if (unindexed >= mostUnindexed) await ensureVectorIndex(database, dimensions);
  }
}

/**
 * Makes the index where it is missing: a partial index over a cast, because the column takes every width. In a transaction of its
 * own. Writers of chunks wait for it; readers do not.
 */
async function ensureVectorIndex(database: Database, dimensions: number): Promise<void> {
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
