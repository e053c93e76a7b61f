import { invalidField, type Neighbour, type RetrievedDocument, type SearchType } from '#platform/contracts';
import type { Database } from '../database.js';
import type { ChunkHit, ChunkSearch } from '../search/chunk-search.js';
import { findByWords } from '../search/lexical-search.js';
import { selectDiverse } from '../search/maximal-marginal-relevance.js';
import { fuse } from '../search/fusion.js';
import { appendPassages, preferDocuments } from '../search/known-passages.js';
import { findNearest, type NearestHit } from '../search/vector-search.js';
import type { ChunkScope } from '../search/metadata-filter.js';
import { findTitles, readDocument, type DocumentTitle } from './named-documents.js';
import { findNeighbours, type NeighbourSearch } from '../search/neighbours.js';
import type { Transaction } from '../transaction.js';
import { requireUsableVector } from '../vectors.js';

type Strategy = (transaction: Transaction, search: ChunkSearch) => Promise<ChunkHit[]>;

const strategies: Record<SearchType, Strategy> = {
  lexical: async (transaction, search) => {
    const fetched = search.preferredDocuments?.length ? Math.max(search.fetchK, search.k) : search.k;
    const hits = await findByWords(transaction, search, fetched);
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
    const lexical = await findByWords(transaction, search, fetched);
    const fused = fuse({ lexical, similar }, search.fusion);
    return preferDocuments(fused, search.preferredDocuments).slice(0, search.k);
  },
};

/** Searches the chunks of stored documents. */
export class ChunksRepository {
  constructor(private readonly database: Database) {}

  /**
   * Returns the best chunks for a search, best first, at most k, then the search's passages. Errors: invalid_request at `embedding` (missing,
   * unusable, or of a width that the collection does not have), `distance_threshold`
   * (missing), service_unavailable.
   */
  async search(search: ChunkSearch): Promise<ChunkHit[]> {
    const strategy = strategies[search.searchType];
    const hits = await this.database.transaction(async (transaction) =>
      appendPassages(transaction, search, await strategy(transaction, search)),
    );
    return hits.map(({ id, text, score, similarity, metadata }) => ({
      id,
      text,
      score,
      ...(similarity !== undefined && { similarity }),
      metadata,
    }));
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

async function nearest(
  transaction: Transaction,
  search: ChunkSearch,
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
