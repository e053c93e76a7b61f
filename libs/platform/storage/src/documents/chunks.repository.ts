import {
  invalidField,
  MegaNestError,
  type Neighbour,
  type RetrievedDocument,
  type SearchType,
} from '#platform/contracts';
import { asClient, currentClient } from '#platform/foundation';
import type { Database } from '../database.js';
import type { ChunkHit, ChunkSearch, SearchResult } from '../search/chunk-search.js';
import { readFacts } from '../search/collection-facts.js';
import { findByWords } from '../search/lexical-search.js';
import { selectDiverse } from '../search/maximal-marginal-relevance.js';
import { fuse } from '../search/fusion.js';
import { appendPassages, preferDocuments } from '../search/known-passages.js';
import type { QueryTerms } from '../search/query-terms.js';
import { findNearest, type NearestHit } from '../search/vector-search.js';
import type { ChunkScope } from '../search/metadata-filter.js';
import { findTitles, readDocument, type DocumentTitle } from './named-documents.js';
import { findNeighbours, type NeighbourSearch } from '../search/neighbours.js';
import type { Transaction } from '../transaction.js';
import type { VectorSegment } from '../vector-segments.js';
import { requireUsableVector } from '../vectors.js';
import { GroupedCalls } from './grouped-calls.js';

/** A search, and what is known of its collection. */
interface KnownSearch extends ChunkSearch {
  segments: readonly VectorSegment[];
  /** Of its query, where it compares words. */
  terms?: QueryTerms | undefined;
}

type Strategy = (transaction: Transaction, search: KnownSearch) => Promise<ChunkHit[]>;

const strategies: Record<SearchType, Strategy> = {
  lexical: async (transaction, search) => {
    const fetched = search.preferredDocuments?.length ? Math.max(search.fetchK, search.k) : search.k;
    const hits = await byWords(transaction, search, fetched);
    return preferDocuments(hits, search.preferredDocuments).slice(0, search.k);
  },
  similarity: (transaction, search) => nearest(transaction, search, search.k),
  similarity_score_threshold: async (transaction, search) => {
    const hits = await nearest(transaction, search, search.k);
    return hits.filter((hit) => hit.score >= search.scoreThreshold);
  },
  similarity_distance_threshold: async (transaction, search) => {
    const greatest = requireDistanceThreshold(search);
    const hits = await nearest(transaction, search, search.k);
    return hits.filter((hit) => 1 - hit.score <= greatest);
  },
  mmr: async (transaction, search) => {
    const candidates = await nearest(transaction, search, Math.max(search.fetchK, search.k), true);
    return selectDiverse(candidates, search.k, search.lambdaMult);
  },
  hybrid: async (transaction, search) => {
    const fetched = Math.max(search.fetchK, search.k);
    const similar = await nearest(transaction, search, fetched);
    const lexical = await byWords(transaction, search, fetched);
    const fused = fuse({ lexical, similar }, search.fusion);
    return preferDocuments(fused, search.preferredDocuments).slice(0, search.k);
  },
};

const wordSearches: ReadonlySet<SearchType> = new Set(['lexical', 'hybrid']);

/** Searches that share a transaction: a request has four queries at most. */
const maxTogether = 8;
/** Such transactions of a process: the connections of its pool. */
const maxRunning = 4;

/** Searches the chunks of stored documents. */
export class ChunksRepository {
  /** The queries of a request arrive together. They share a transaction, and what is read of their collection. */
  readonly #searches: GroupedCalls<SearchOfClient, SearchResult>;

  constructor(private readonly database: Database) {
    this.#searches = new GroupedCalls({
      maxRunning,
      joins: joinsScope,
      work: (together) =>
        asClient(together[0]!.client, () =>
          database.transaction((transaction) =>
            searchTogether(
              transaction,
              together.map(({ search }) => search),
            ),
          ),
        ),
    });
  }

  /**
   * Returns the best chunks for a search, best first, at most k, then the search's passages. Errors: invalid_request at `embedding` (missing,
   * unusable, or of a width that the collection does not have), `distance_threshold`
   * (missing), service_unavailable.
   */
  async search(search: ChunkSearch): Promise<ChunkHit[]> {
    return (await this.find(search)).hits;
  }

  /** As {@link search}, by words if the collection has vectors of another model than the search's own. */
  find(search: ChunkSearch): Promise<SearchResult> {
    return this.#searches.call({ search, client: currentClient() });
  }

  /** The documents that a search of the scope can find. Errors: service_unavailable. */
  titles(scope: ChunkScope): Promise<DocumentTitle[]> {
    return this.database.transaction((transaction) => findTitles(transaction, scope));
  }

  /** The chunks of a document in their order, as far as a search of the scope may return them. Errors: service_unavailable. */
  readDocument(
    scope: ChunkScope,
    document: { id: string; maxWords: number },
  ): Promise<{ chunks: RetrievedDocument[]; isCut: boolean }> {
    return this.database.transaction((transaction) => readDocument(transaction, scope, document));
  }

  /** Returns the chunks around found ones, in the order of their documents. Errors: service_unavailable. */
  neighbours(search: NeighbourSearch): Promise<Neighbour[]> {
    return this.database.transaction((transaction) => findNeighbours(transaction, search));
  }
}

/** A search that waits in the turn of its client. */
interface SearchOfClient {
  search: ChunkSearch;
  client: string;
}

/** Searches of one client and scope share a transaction. */
function joinsScope(): (waiting: SearchOfClient) => boolean {
  let scope: string | undefined;
  let count = 0;
  return (waiting) => {
    if (count === maxTogether || scopeOf(waiting) !== (scope ??= scopeOf(waiting))) return false;
    count += 1;
    return true;
  };
}

function scopeOf({ search, client }: SearchOfClient): string {
  const { collection, owner, searchType, embedding, embeddingModel } = search;
  return JSON.stringify([client, collection, owner, searchType, embedding?.length, embeddingModel]);
}

/** Makes searches of one scope one after the other. A search that is refused does not end the others. */
async function searchTogether(
  transaction: Transaction,
  searches: readonly ChunkSearch[],
): Promise<(SearchResult | MegaNestError)[]> {
  const typeOf = (isForeign: boolean): SearchType => (isForeign ? 'lexical' : searches[0]!.searchType);
  const { segments, isForeign, terms } = await readFacts(transaction, searches, (facts) =>
    wordSearches.has(typeOf(facts.isForeign)),
  );
  const searchType = typeOf(isForeign);
  const results: (SearchResult | MegaNestError)[] = [];
  for (const [index, search] of searches.entries()) {
    try {
      const found = await strategies[searchType](transaction, { ...search, segments, terms: terms[index] });
      const hits = await appendPassages(transaction, search, found);
      results.push({ hits: hits.map(withoutVector), searchType, isForeign });
    } catch (error) {
      // Postgres' own errors end the transaction.
      if (!(error instanceof MegaNestError)) throw error;
      results.push(error);
    }
  }
  return results;
}

function withoutVector({ id, text, score, similarity, metadata }: ChunkHit): ChunkHit {
  return { id, text, score, ...(similarity !== undefined && { similarity }), metadata };
}

async function byWords(transaction: Transaction, search: KnownSearch, limit: number): Promise<ChunkHit[]> {
  return search.terms ? findByWords(transaction, search, search.terms, limit) : [];
}

async function nearest(
  transaction: Transaction,
  search: KnownSearch,
  limit: number,
  withVectors = false,
): Promise<NearestHit[]> {
  const { embedding, searchType } = search;
  if (!embedding) {
    throw invalidField('embedding', `search_type ${searchType} needs the embedding of the query`);
  }
  requireUsableVector(embedding, 'embedding');
  const hits = await findNearest(transaction, { ...search, embedding }, limit, withVectors);
  if (hits.length === 0) await requireKnownWidth(transaction, search, embedding.length);
  return hits;
}

/** Distinguishes an empty result from a wrong embedding model. */
async function requireKnownWidth(
  transaction: Transaction,
  { collection, owner }: ChunkSearch,
  dimensions: number,
): Promise<void> {
  const rows = await transaction.query<{ model: string; dimensions: number }>(
    `SELECT DISTINCT embedding_model AS model, embedding_dimensions AS dimensions FROM documents
     WHERE collection = $1 AND owner IS NOT DISTINCT FROM $2 AND chunk_count > 0`,
    [collection, owner ?? null],
  );
  if (rows.length === 0 || rows.some((row) => row.dimensions === dimensions)) return;
  const held = rows.map((row) => `${row.dimensions} (${row.model})`).join(', ');
  throw invalidField(
    'embedding',
    `has ${dimensions} dimensions, but collection ${collection} holds vectors of ${held}`,
  );
}

function requireDistanceThreshold({ distanceThreshold }: ChunkSearch): number {
  if (distanceThreshold !== undefined) return distanceThreshold;
  throw invalidField('distance_threshold', 'search_type similarity_distance_threshold needs it');
}
