import type { Transaction } from '../transaction.js';
import { segmentPrefix, segmentsIn, type SegmentRow, type VectorSegment } from '../vector-segments.js';
import type { ChunkSearch } from './chunk-search.js';
import { countTerms, countedTermLimit, termLimit, type QueryTerms, type Term } from './query-terms.js';

/** What searches of one scope know of its chunks before they read them. */
export interface CollectionFacts {
  /** Ranges of chunks with a vector index, for the width of the searches' vectors. */
  segments: readonly VectorSegment[];
  /** The collection has vectors of another model than the searches' own. */
  isForeign: boolean;
  /** For each query; empty if the searches do not compare words. */
  terms: readonly QueryTerms[];
}

interface FactsRow {
  segments: SegmentRow[];
  foreign: boolean;
  counted: string | null;
  chunks: string | null;
  lexemes: string | null;
  total: number;
  terms: Term[][];
}

/** Smallest fraction (1/n) of all chunks that a collection needs to be found through the index of words. */
const smallPart = 4;

/** Whether a collection has a model before or after the searches' own: a range of an index, not all of its documents. */
const existsModel = (comparison: '<' | '>') =>
  `EXISTS (SELECT FROM documents WHERE collection = $1 AND owner IS NOT DISTINCT FROM $2
     AND embedding_model ${comparison} $3::text AND pending_since IS NULL AND chunk_count > 0)`;

/**
 * Everything in one statement, since planning and the round trip cost more than the reading. The numbers of a
 * collection whose words are not counted come from its documents. The terms have the frequencies that were counted in
 * the background; a word that was not counted is rare.
 */
const statement = `
  SELECT set_config('enable_seqscan', 'off', true),
    (SELECT coalesce(json_agg(json_build_object('name', relname, 'rows', reltuples, 'ready', indisvalid)), '[]')
     FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE indrelid = 'chunks'::regclass AND starts_with(relname::text, $4)) AS segments,
    ${existsModel('<')} OR ${existsModel('>')} AS foreign,
    counted.chunks AS counted, coalesce(counted.chunks, all_of.chunks) AS chunks,
    coalesce(counted.lexemes, all_of.lexemes) AS lexemes,
    (SELECT reltuples FROM pg_class WHERE oid = 'chunks'::regclass) AS total,
    (SELECT coalesce(json_agg(found ORDER BY number), '[]') FROM unnest($5::text[]) WITH ORDINALITY AS asked (query, number),
       LATERAL (SELECT coalesce(json_agg(term), '[]') AS found FROM (
         SELECT lexeme, coalesce((
           SELECT chunks FROM counted_words AS word WHERE word.collection = $1 AND word.lexeme = each.lexeme
         ), 1) AS frequency
         FROM (SELECT lexeme FROM unnest(search_vector(asked.query)) ORDER BY positions[1] LIMIT ${countedTermLimit}) AS each
         ORDER BY frequency, lexeme LIMIT ${termLimit}
       ) AS term) AS terms) AS terms
  FROM (SELECT) AS one
  LEFT JOIN (SELECT chunks, lexemes FROM word_counts WHERE collection = $1 AND chunks > 0) AS counted ON true
  LEFT JOIN LATERAL (
    SELECT coalesce(sum(chunk_count), 0) AS chunks, coalesce(sum(lexeme_count), 0) AS lexemes FROM documents
    WHERE collection = $1 AND owner IS NOT DISTINCT FROM $2 AND counted.chunks IS NULL
  ) AS all_of ON true`;

/**
 * Reads what searches of the same scope need. Switches sequential scans off until the transaction ends: the planner
 * cannot estimate how few chunks contain a word. `comparesWords` says whether a search type needs the terms.
 */
export async function readFacts(
  transaction: Transaction,
  searches: readonly ChunkSearch[],
  comparesWords: (facts: Pick<CollectionFacts, 'isForeign'>) => boolean,
): Promise<CollectionFacts> {
  const { collection, owner, embedding, embeddingModel } = searches[0]!;
  const queries = searches.map(({ query }) => query);
  const prefix = segmentPrefix(collection, embedding?.length ?? 0);
  const [row] = await transaction.query<FactsRow>(statement, [
    collection,
    owner ?? null,
    embeddingModel ?? null,
    prefix,
    queries,
  ]);
  const { foreign: isForeign = false, segments = [] } = row ?? {};
  const facts = { isForeign, segments: segmentsIn(segments, prefix) };
  if (!comparesWords(facts)) return { ...facts, terms: [] };
  const chunks = Number(row?.chunks);
  const isSmallPart = chunks * smallPart < Number(row?.total);
  const averageLength = Math.max(Number(row?.lexemes) / Math.max(chunks, 1), 1);
  const terms =
    row && row.counted !== null
      ? row.terms
      : await countTerms(transaction, { ...searches[0]!, queries }, isSmallPart);
  return { ...facts, terms: terms.map((each) => ({ terms: each, chunks, averageLength, isSmallPart })) };
}
