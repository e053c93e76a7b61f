import { SqlParameters, type Transaction } from '../transaction.js';
import type { ChunkHit } from './chunk-search.js';
import { chunkCondition } from './metadata-filter.js';
import { growthShare } from './word-counts.js';
import { conditionsOf, type LexicalQuery, type QueryTerms, type Term } from './query-terms.js';

/** BM25's saturation of repeated words and normalization by length; measured in docs/benchmarks.md. */
const saturation = 0.6;
const lengthNormalization = 0.5;
/** Number of chunks that the frequencies of the terms of one selection may add up to. */
const candidateLimit = 2_000;
/** Maximum number of chunks that are scored: frequencies lag behind the collection by this share at most. */
const scoredLimit = candidateLimit * (1 + growthShare);
/**
 * Terms of which a chunk must have two, where too many chunks have one of them. More terms read long lists of chunks.
 */
const pairedTerms = 3;

/**
 * Searches by BM25 with Postgres' full text search: returns the best `limit` chunks with any of the query's words
 * (stemmed, without stop words). Full text operators find the chunks, but Postgres' own ranking ignores how rare a
 * word is. The score is computed here, from counts per term (inverse document frequency) and `ts_rank` (term
 * frequency). Returns an empty result for a query of stop words.
 */
export async function findByWords(
  transaction: Transaction,
  query: LexicalQuery,
  known: QueryTerms,
  limit: number,
): Promise<ChunkHit[]> {
  const found = new Map<string, ChunkHit>();
  for (const selection of known.chunks > 0 ? selectionsOf(known.terms) : []) {
    const { text, parameters } = scoringStatement(query, { ...known, selection: selection.condition, limit });
    for (const hit of await transaction.query<ChunkHit>(text, parameters.values)) found.set(hit.id, hit);
    if (found.size >= limit && !selection.isNarrow) break;
  }
  return [...found.values()].sort(byScore).slice(0, limit);
}

const byScore = (left: ChunkHit, right: ChunkHit) =>
  right.score - left.score || (left.id < right.id ? -1 : 1);

/** Quotes a lexeme for a tsquery. */
const quoted = (lexeme: string) => `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
const anyOf = (terms: readonly Term[]) => terms.map(({ lexeme }) => quoted(lexeme)).join(' | ');

/** A full text condition that selects chunks to be scored. */
interface Selection {
  condition: string;
  /** The next selection is searched too, whatever this one gives. */
  isNarrow?: boolean;
}

/**
 * Conditions that a search tries in order until it has enough hits: the rarest terms whose chunks stay within the
 * limit; all of the next three terms, then two of them, then one; any term. If more chunks match than are scored,
 * chunks with all three terms come first.
 */
export function selectionsOf(terms: readonly Term[]): Selection[] {
  if (terms.length === 0) return [];
  let candidates = 0;
  const count = terms.findIndex(({ frequency }) => (candidates += frequency) > candidateLimit);
  if (count === -1) return [{ condition: anyOf(terms) }];
  const paired = terms.slice(count, count + pairedTerms);
  const all = paired.map(({ lexeme }) => quoted(lexeme)).join(' & ');
  const pairs = paired
    .slice(0, -1)
    .map((term, index) => `${quoted(term.lexeme)} & (${anyOf(paired.slice(index + 1))})`);
  return [
    ...(count > 0 ? [{ condition: anyOf(terms.slice(0, count)) }] : []),
    ...(paired.length > 2 ? [{ condition: all, isNarrow: true }] : []),
    ...(pairs.length > 0 ? [{ condition: pairs.join(' | ') }] : []),
    { condition: anyOf(paired.slice(0, 1)) },
    ...(terms.length > count + 1 ? [{ condition: anyOf(terms) }] : []),
  ];
}

function inverseDocumentFrequency(frequency: number, chunks: number): number {
  return Math.log(1 + Math.max(chunks - frequency + 0.5, 0.5) / (frequency + 0.5));
}

interface Scoring extends QueryTerms {
  /** Full text condition of the chunks that are scored. */
  selection: string;
  limit: number;
}

/**
 * `ts_rank` of one term with equal weights is Σ 1/j² over its occurrences, divided by π²/6. The rest of that sum is
 * nearly 1/(n + ½), so the number of occurrences is computed from it, without unpacking the tsvector. NULL for none.
 */
const occurrencesOf = (term: string) =>
  `nullif(round(1 / (1.64493406685 * (1 - ts_rank('{1,1,1,1}', search, ${term}::tsquery))) - 0.5), 0)`;
const shortness = 1 - lengthNormalization;

/** Returns the statement and its parameters. */
function scoringStatement(
  query: LexicalQuery,
  { terms, chunks, averageLength, isSmallPart, selection, limit }: Scoring,
): { text: string; parameters: SqlParameters } {
  const parameters = new SqlParameters();
  const length = `length(search)::float8 / ${parameters.add(averageLength)}::float8`;
  const damping = `${saturation}::float8 * (${shortness}::float8 + ${lengthNormalization}::float8 * ${length})`;
  const parts = terms.map(({ lexeme, frequency }) => {
    const weight = (saturation + 1) * inverseDocumentFrequency(frequency, chunks);
    return `coalesce(${weight}::float8 / (1 + damping / ${occurrencesOf(parameters.add(quoted(lexeme)))}), 0)`;
  });
  const [ofWords, ofCollection] = conditionsOf(
    `search @@ ${parameters.add(selection)}::tsquery`,
    `collection = ${parameters.add(query.collection)}`,
    isSmallPart,
  );
  const text = `
    WITH candidates AS (
      SELECT id, search, ${damping} AS damping FROM chunks
      WHERE ${ofWords} AND ${ofCollection} AND ${chunkCondition(query, parameters)} LIMIT ${scoredLimit}
    ), best AS MATERIALIZED (
      SELECT id, ${parts.join(' + ')} AS score FROM candidates ORDER BY score DESC, id LIMIT ${parameters.add(limit)}
    )
    SELECT id, text, metadata, score FROM best JOIN chunks USING (id) ORDER BY score DESC, id`;
  return { text, parameters };
}
