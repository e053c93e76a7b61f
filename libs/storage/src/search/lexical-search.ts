import { SqlParameters, type Transaction } from '../transaction.js';
import type { ChunkHit, ChunkSearch } from './chunk-search.js';
import { chunkCondition, ownerCondition, type ChunkScope } from './metadata-filter.js';

type LexicalQuery = ChunkScope & Pick<ChunkSearch, 'query'>;

interface Term {
  lexeme: string;
  /** Number of chunks of the collection with the term, counted up to a limit. */
  frequency: number;
}

interface Collection {
  chunks: number;
  /** Average number of distinct lexemes per chunk. */
  averageLength: number;
}

/** BM25's saturation of repeated words and normalization by length; measured in docs/benchmarks.md. */
const saturation = 0.6;
const lengthNormalisation = 0.5;
/** Maximum distinct terms of a query that are counted, in the order of the text. */
const countedTermLimit = 128;
/** Maximum number of terms that are scored: the rarest. */
const termLimit = 32;
/** Maximum count of a frequency; a more frequent term says little in any collection. */
const frequencyLimit = 20_000;
/** Maximum number of chunks that are scored; the rarest terms select them. */
const candidateBudget = 2_000;

/**
 * Searches by BM25 with Postgres' full text search: returns the best `limit` chunks with any of the query's words
 * (stemmed, without stop words). Full text operators find the chunks, but Postgres' own ranking ignores how rare a
 * word is. The score is computed here, from counts per term (inverse document frequency) and `ts_rank` (term
 * frequency). Returns an empty result for a query of stop words.
 */
export async function findByWords(
  transaction: Transaction,
  query: LexicalQuery,
  limit: number,
): Promise<ChunkHit[]> {
  await transaction.query('SET LOCAL enable_seqscan = off');
  const hits = await findByTerms(transaction, query, limit);
  await transaction.query('SET LOCAL enable_seqscan = on');
  return hits;
}

/**
 * Uses only the full text index. The planner cannot estimate how few chunks contain a word, and used the index of
 * collections or a scan of the table, three times as slow. Therefore sequential scans are off, and `(collection =
 * …) IS TRUE` prevents the other index.
 */
async function findByTerms(
  transaction: Transaction,
  query: LexicalQuery,
  limit: number,
): Promise<ChunkHit[]> {
  const collection = await describeCollection(transaction, query);
  const terms = await findTerms(transaction, query, collection.chunks);
  if (collection.chunks === 0 || terms.length === 0) return [];
  const selective = withinBudget(terms);
  const hits = await scoreChunks(transaction, query, { terms, selective, collection, limit });
  if (hits.length >= limit || selective.length === terms.length) return hits;
  return scoreChunks(transaction, query, { terms, selective: terms, collection, limit });
}

async function describeCollection(transaction: Transaction, scope: ChunkScope): Promise<Collection> {
  const parameters = new SqlParameters();
  const collection = parameters.add(scope.collection);
  const [row] = await transaction.query<{ chunks: string; lexemes: string }>(
    `SELECT coalesce(sum(chunk_count), 0) AS chunks, coalesce(sum(lexeme_count), 0) AS lexemes
     FROM documents WHERE collection = ${collection} AND ${ownerCondition(scope, parameters)}`,
    parameters.values,
  );
  const chunks = Number(row?.chunks);
  return { chunks, averageLength: Math.max(Number(row?.lexemes) / Math.max(chunks, 1), 1) };
}

/**
 * The most common words and the share of chunks that have them, as a server samples them by itself. They apply to a collection that has
 * at least half of all chunks.
 */
const commonWords = `
  SELECT unnest(most_common_elems::text::text[]) AS lexeme, unnest(most_common_elem_freqs) AS share
  FROM pg_stats WHERE schemaname = current_schema() AND tablename = 'chunks' AND attname = 'search'
    AND (SELECT reltuples FROM pg_class WHERE oid = 'chunks'::regclass) BETWEEN 1 AND 2 * $6::float8`;

/**
 * Returns the query's terms that occur in the collection, rarest first. Rare ones are counted. Counting a common one would read the
 * list of all its chunks, only to weigh it low: its frequency is the sampled one where there is one.
 */
async function findTerms(transaction: Transaction, query: LexicalQuery, chunks: number): Promise<Term[]> {
  const parameters = new SqlParameters();
  const limits = [query.query, query.collection, frequencyLimit, termLimit, countedTermLimit, chunks];
  for (const value of [...limits, candidateBudget]) parameters.add(value);
  const rows = await transaction.query<{ lexeme: string; frequency: string }>(
    `WITH common AS MATERIALIZED (${commonWords})
     SELECT lexeme, frequency
     FROM (SELECT lexeme FROM unnest(search_vector($1)) ORDER BY positions[1] LIMIT $5) AS term
       LEFT JOIN common USING (lexeme),
       LATERAL (SELECT CASE WHEN share * $6 > $7 THEN least(round(share * $6), $3::bigint) ELSE (SELECT count(*) FROM (
         SELECT FROM chunks WHERE search @@ quote_literal(term.lexeme)::tsquery AND (collection = $2) IS TRUE
           AND ${ownerCondition(query, parameters)} LIMIT $3::bigint
       ) AS counted) END AS frequency) AS counts
     WHERE frequency > 0 ORDER BY frequency, lexeme LIMIT $4`,
    parameters.values,
  );
  return rows.map((row) => ({ lexeme: row.lexeme, frequency: Number(row.frequency) }));
}

/** Returns the rarest terms whose chunks together stay within the budget; at least one. */
function withinBudget(terms: readonly Term[]): readonly Term[] {
  let candidates = 0;
  const count = terms.findIndex((term) => (candidates += term.frequency) > candidateBudget);
  return count === -1 ? terms : terms.slice(0, Math.max(count, 1));
}

function inverseDocumentFrequency(frequency: number, chunks: number): number {
  return Math.log(1 + Math.max(chunks - frequency + 0.5, 0.5) / (frequency + 0.5));
}

interface Scoring {
  terms: readonly Term[];
  selective: readonly Term[];
  collection: Collection;
  limit: number;
}

/**
 * `ts_rank` of one term with equal weights is Σ 1/j² over its occurrences, divided by π²/6. The rest of that sum is
 * nearly 1/(n + ½), so the number of occurrences is computed from it, without unpacking the tsvector.
 */
const occurrences = `round(1 / (1.64493406685 * (1 - ts_rank('{1,1,1,1}', search, term))) - 0.5)`;
const shortness = 1 - lengthNormalisation;

async function scoreChunks(
  transaction: Transaction,
  query: LexicalQuery,
  { terms, selective, collection, limit }: Scoring,
): Promise<ChunkHit[]> {
  const parameters = new SqlParameters();
  const lexemes = parameters.add(terms.map((term) => term.lexeme));
  const weights = parameters.add(
    terms.map((term) => inverseDocumentFrequency(term.frequency, collection.chunks)),
  );
  const wanted = parameters.add(selective.map((term) => term.lexeme));
  const length = `length(search)::float8 / ${parameters.add(collection.averageLength)}::float8`;
  const damping = `${saturation}::float8 * (${shortness}::float8 + ${lengthNormalisation}::float8 * ${length})`;
  return transaction.query<ChunkHit>(
    `WITH terms AS MATERIALIZED (
       SELECT quote_literal(lexeme)::tsquery AS term, weight
       FROM unnest(${lexemes}::text[], ${weights}::float8[]) AS given (lexeme, weight)
     ), candidates AS MATERIALIZED (
       SELECT id, search FROM chunks
       WHERE search @@ (SELECT string_agg(quote_literal(lexeme), '|') FROM unnest(${wanted}::text[]) AS lexeme)::tsquery
         AND (collection = ${parameters.add(query.collection)}) IS TRUE
         AND ${chunkCondition(query, parameters)}
     ), best AS (
       SELECT id, sum(weight * ${saturation + 1}::float8 / (1 + ${damping} / ${occurrences})) AS score
       FROM candidates JOIN terms ON search @@ term
       GROUP BY id ORDER BY score DESC, id LIMIT ${parameters.add(limit)}
     )
     SELECT id, text, metadata, score FROM best JOIN chunks USING (id) ORDER BY score DESC, id`,
    parameters.values,
  );
}
