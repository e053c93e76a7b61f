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
export const countedTermLimit = 128;
/** Maximum number of terms that are scored: the rarest. */
export const termLimit = 32;
/** Maximum count of a frequency; a more frequent term says little in any collection. */
const frequencyLimit = 20_000;

/**
 * Counts the chunks of each term of several queries, a term of two queries once; returns the rarest terms of each query.
 * `(collection = …) IS TRUE` prevents the index of collections, which the planner takes because it cannot estimate how
 * few chunks contain a word.
 */
export async function countTerms(
  transaction: Transaction,
  { queries, ...scope }: ChunkScope & { queries: readonly string[] },
  isSmallPart: boolean,
): Promise<Term[][]> {
  const parameters = new SqlParameters();
  const asked = parameters.add(queries);
  const [ofWord, ofCollection] = conditionsOf(
    'search @@ quote_literal(lexeme)::tsquery',
    `collection = ${parameters.add(scope.collection)}`,
    isSmallPart,
  );
  const owned = ownerCondition(scope, parameters);
  const rows = await transaction.query<{ number: number; lexeme: string; frequency: string }>(
    `WITH term AS MATERIALIZED (
       SELECT number, lexeme FROM unnest(${asked}::text[]) WITH ORDINALITY AS asked (query, number), LATERAL (
         SELECT lexeme FROM unnest(search_vector(query)) ORDER BY positions[1] LIMIT ${countedTermLimit}
       ) AS each
     ), counted AS (
       SELECT lexeme, frequency FROM (SELECT DISTINCT lexeme FROM term) AS one, LATERAL (
         SELECT count(*) AS frequency FROM (
           SELECT FROM chunks WHERE ${ofWord} AND ${ofCollection} AND ${owned} LIMIT ${frequencyLimit}
         ) AS found
       ) AS counts
     )
     SELECT number::integer, lexeme, frequency FROM term JOIN counted USING (lexeme)
     WHERE frequency > 0 ORDER BY frequency, lexeme`,
    parameters.values,
  );
  return queries.map((_query, index) =>
    rows
      .filter(({ number }) => number === index + 1)
      .slice(0, termLimit)
      .map(({ lexeme, frequency }) => ({ lexeme, frequency: Number(frequency) })),
  );
}

/** Two conditions of which only one can use its index: `… IS TRUE` hides the other one from the planner. */
export function conditionsOf(
  ofWords: string,
  ofCollection: string,
  isSmallPart: boolean,
): [ofWords: string, ofCollection: string] {
  return isSmallPart ? [`(${ofWords}) IS TRUE`, ofCollection] : [ofWords, `(${ofCollection}) IS TRUE`];
}
