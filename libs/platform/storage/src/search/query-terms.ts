import { SqlParameters, type Transaction } from '../transaction.js';
import type { ChunkSearch } from './chunk-search.js';
import { ownerCondition, type ChunkScope } from './metadata-filter.js';

/** The query and the scope of a search by words. */
export type LexicalQuery = ChunkScope & Pick<ChunkSearch, 'query'>;

/** A word of the query as the index of words has it. */
export interface Term {
  lexeme: string;
  /** Number of chunks with the term, counted up to a limit. */
  frequency: number;
}

/** The terms of a query that its collection contains, the rarest first, and the counts that weigh them. */
export interface QueryTerms {
  terms: Term[];
  chunks: number;
  /** Average number of distinct lexemes a chunk. */
  averageLength: number;
  /** True if the index of words finds little but chunks of other collections. */
  isSmallPart: boolean;
}

/** Maximum distinct terms of a query that are counted, in the order of the text. */
const countedTermLimit = 128;
/** Maximum number of terms that are scored: the rarest. */
const termLimit = 32;
/** Maximum count of a frequency; a more frequent term says little in any collection. */
const frequencyLimit = 20_000;
/** A collection with less than this fraction (1/n) of all chunks is found through its own index. */
const smallPart = 4;

interface CollectionRow {
  counted: string | null;
  lexemes: string | null;
  total: number;
  terms: Term[];
}

/** The distinct terms of $1, in the order of the text. */
const termsOfQuery = 'SELECT lexeme FROM unnest(search_vector($1)) ORDER BY positions[1] LIMIT $2';

/**
 * Reads what is known of a collection and of the query's terms in it. Switches sequential scans off until the
 * transaction ends: the planner cannot estimate how few chunks contain a word.
 */
export async function readTerms(transaction: Transaction, query: LexicalQuery): Promise<QueryTerms> {
  const [row] = await transaction.query<CollectionRow>(
    `SELECT set_config('enable_seqscan', 'off', true), chunks AS counted, lexemes,
       (SELECT reltuples FROM pg_class WHERE oid = 'chunks'::regclass) AS total,
       (SELECT coalesce(json_agg(found), '[]') FROM (${countedTerms}) AS found) AS terms
     FROM (SELECT) AS one LEFT JOIN word_counts ON collection = $3`,
    [query.query, countedTermLimit, query.collection, termLimit],
  );
  const counted = Number(row?.counted);
  const isCounted = counted > 0;
  const known = isCounted
    ? { chunks: counted, lexemes: Number(row?.lexemes) }
    : await describeCollection(transaction, query);
  const { chunks } = known;
  const isSmallPart = chunks * smallPart < Number(row?.total);
  const terms = row && isCounted ? row.terms : await countTerms(transaction, query, isSmallPart);
  return { terms, chunks, averageLength: Math.max(known.lexemes / Math.max(chunks, 1), 1), isSmallPart };
}

/** The terms with the frequencies that were counted in the background; a word that was not counted is rare. */
const countedTerms = `
  SELECT lexeme, coalesce((
    SELECT chunks FROM counted_words AS counted WHERE counted.collection = $3 AND counted.lexeme = term.lexeme
  ), 1) AS frequency
  FROM (${termsOfQuery}) AS term ORDER BY frequency, lexeme LIMIT $4`;

async function describeCollection(transaction: Transaction, scope: ChunkScope) {
  const parameters = new SqlParameters();
  const collection = parameters.add(scope.collection);
  const [row] = await transaction.query<{ chunks: string; lexemes: string }>(
    `SELECT coalesce(sum(chunk_count), 0) AS chunks, coalesce(sum(lexeme_count), 0) AS lexemes
     FROM documents WHERE collection = ${collection} AND ${ownerCondition(scope, parameters)}`,
    parameters.values,
  );
  return { chunks: Number(row?.chunks), lexemes: Number(row?.lexemes) };
}

/**
 * Counts the chunks of each term. `(collection = …) IS TRUE` prevents the index of collections, which the planner takes
 * because it cannot estimate how few chunks contain a word.
 */
async function countTerms(
  transaction: Transaction,
  query: LexicalQuery,
  isSmallPart: boolean,
): Promise<Term[]> {
  const parameters = new SqlParameters();
  const limits = [query.query, countedTermLimit, query.collection, termLimit, frequencyLimit];
  for (const value of limits) parameters.add(value);
  const owned = ownerCondition(query, parameters);
  const [ofWord, ofCollection] = conditionsOf(
    'search @@ quote_literal(term.lexeme)::tsquery',
    'collection = $3',
    isSmallPart,
  );
  const rows = await transaction.query<{ lexeme: string; frequency: string }>(
    `SELECT lexeme, frequency FROM (${termsOfQuery}) AS term, LATERAL (SELECT count(*) AS frequency FROM (
       SELECT FROM chunks WHERE ${ofWord} AND ${ofCollection} AND ${owned} LIMIT $5::bigint
     ) AS counted) AS counts
     WHERE frequency > 0 ORDER BY frequency, lexeme LIMIT $4`,
    parameters.values,
  );
  return rows.map(({ lexeme, frequency }) => ({ lexeme, frequency: Number(frequency) }));
}

/** Two conditions of which only one can use its index: `… IS TRUE` hides the other one from the planner. */
export function conditionsOf(
  ofWords: string,
  ofCollection: string,
  isSmallPart: boolean,
): [ofWords: string, ofCollection: string] {
  return isSmallPart ? [`(${ofWords}) IS TRUE`, ofCollection] : [ofWords, `(${ofCollection}) IS TRUE`];
}
