import {
  decodeVectors,
  embed,
  encodeVector,
  maxQueryCharacters,
  MegaNestError,
  rerank,
  retrieve,
  type AttributeFilter,
  type RequestOf,
  type RetrievalParameters,
  type RetrievedDocument,
} from '#platform/contracts';
import { RpcClient, type CallOptions } from '#platform/messaging';
import {
  VectorStoreFilesRepository,
  VectorStoresRepository,
  type StoredVectorStoreFile,
} from '#platform/storage';
import { Inject, Injectable } from '@nestjs/common';
import type { RankingOptions } from './vector-store.requests.js';

export interface StoreSearch {
  /** Owner of the stores. The caller has checked that the stores exist. */
  owner: string;
  storeIds: readonly string[];
  queries: readonly string[];
  filters?: AttributeFilter;
  maxResults: number;
  ranking: RankingOptions;
}

/** A passage that was found, and its file. */
export interface FoundPassage {
  file: StoredVectorStoreFile;
  passage: RetrievedDocument;
  /** Relevance from 0 to 1, comparable within one answer. */
  score: number;
}

/** The result of a search. */
export interface StoreSearchResult {
  /** Best passages first. */
  found: FoundPassage[];
  /** Steps that failed or searched in another way than wanted, for the header `x-meganest-degraded`. */
  degraded: string[];
}

/** Searches vector stores: hybrid retrieval, then the reranker. */
@Injectable()
export class VectorStoreSearch {
  constructor(
    @Inject(RpcClient) private readonly rpc: RpcClient,
    @Inject(VectorStoresRepository) private readonly stores: VectorStoresRepository,
    @Inject(VectorStoreFilesRepository) private readonly attached: VectorStoreFilesRepository,
  ) {}

  /** Marks the stores as used. Errors: service_unavailable that names the service. */
  async search(search: StoreSearch, call: CallOptions): Promise<StoreSearchResult> {
    const { storeIds, maxResults, ranking } = search;
    const queries = search.queries.map((query) => query.slice(0, maxQueryCharacters));
    const cut = search.queries.some((query) => query.length > maxQueryCharacters) ? ['query'] : [];
    await this.stores.touch(storeIds);
    const needsVectors = ranking.hybrid_search?.embedding_weight !== 0;
    const vectors = needsVectors ? await this.#embed(queries, call) : [];
    const rankings = await Promise.all(
      queries.map((query, index) => this.#rank(query, vectors[index], search, call)),
    );
    const merged = mergeRankings(rankings.map(({ passages }) => passages));
    const passing = merged.filter(({ score }) => score >= ranking.score_threshold);
    const found = (await this.#withFiles(passing, storeIds)).slice(0, maxResults);
    return { found, degraded: [...new Set([...rankings.flatMap(({ degraded }) => degraded), ...cut])] };
  }

  async #embed(queries: readonly string[], call: CallOptions): Promise<Float32Array[]> {
    const reply = await this.rpc.request(
      embed,
      { inputs: [...queries], truncate: true, input_type: 'query' },
      call,
    );
    return decodeVectors(reply.vectors, reply.dimensions);
  }

  async #rank(
    query: string,
    vector: Float32Array | undefined,
    { owner, storeIds, filters, maxResults, ranking }: StoreSearch,
    call: CallOptions,
  ): Promise<Ranking> {
    const request = {
      ...retrievalParametersOf(ranking, maxResults),
      query,
      owner,
      ...(vector && { embedding: encodeVector(vector) }),
      ...(filters && { attribute_filter: filters }),
    };
    const replies = await Promise.all(
      storeIds.map((collection) => this.rpc.request(retrieve, { ...request, collection }, call)),
    );
    const searched = replies.some((reply) => reply.degraded) ? ['retrieval'] : [];
    const candidates = replies
      .flatMap(({ documents, searchType }) => documents.map((passage) => ({ passage, searchType })))
      .toSorted((a, b) => b.passage.score - a.passage.score);
    const passages = candidates.map(({ passage }) => passage);
    const wantsRanker = ranking.ranker !== 'none';
    const reranked = wantsRanker ? await this.#rerank(query, passages, call) : undefined;
    if (reranked) return { passages: fallingScores(reranked), degraded: searched };
    const scored = candidates.map(({ passage, searchType }) => ({
      passage,
      score: searchRelevance(passage, searchType),
    }));
    return {
      passages: fallingScores(scored),
      degraded: [...searched, ...(wantsRanker ? ['reranking'] : [])],
    };
  }

  /** Undefined where the reranking service is unavailable; then the order of the search is used. */
  async #rerank(
    query: string,
    candidates: readonly RetrievedDocument[],
    call: CallOptions,
  ): Promise<RankedPassage[] | undefined> {
    if (candidates.length === 0) return [];
    const texts = candidates.map(({ text }) => text);
    try {
      const scores = candidates.map(({ score }) => score);
      const request = { query, texts, scores, top_n: texts.length };
      const { results } = await this.rpc.request(rerank, request, call);
      return results.flatMap(({ index, score, relevance = score }) => {
        const passage = candidates[index];
        return passage ? [{ passage, score: relevance }] : [];
      });
    } catch (error) {
      if (error instanceof MegaNestError && error.code === 'service_unavailable') return undefined;
      throw error;
    }
  }

  /** Adds the files to passages. Passages whose file was detached from its store during the search are left out. */
  async #withFiles(ranked: readonly RankedPassage[], storeIds: readonly string[]): Promise<FoundPassage[]> {
    if (ranked.length === 0) return [];
    const files = await this.attached.findByDocuments([...new Set(ranked.map(documentOf))]);
    return ranked.flatMap((each) => {
      const file = files.get(documentOf(each));
      return file && storeIds.includes(file.vectorStoreId) ? [{ ...each, file }] : [];
    });
  }
}

function documentOf({ passage }: RankedPassage): string {
  return String(passage.metadata['document_id']);
}

/** A passage with its relevance, from 0 to 1. */
interface RankedPassage {
  passage: RetrievedDocument;
  score: number;
}

/** Minimum number of candidates for the reranker; with fewer it could not find better passages. */
const minCandidates = 20;

/** The passages for one question, and the steps that failed for it. */
interface Ranking {
  passages: RankedPassage[];
  degraded: string[];
}

type StoreSearchParameters = RetrievalParameters & Pick<RequestOf<typeof retrieve>, 'similarity_factor'>;

/**
 * Parameters for retrieval. The weights keep the fusion of the profile: equal weights are its default, and their ratio
 * multiplies its weight of the vector search. A weight of 0 leaves a search out.
 */
export function retrievalParametersOf(
  { hybrid_search: weights }: RankingOptions,
  maxResults: number,
): StoreSearchParameters {
  const k = Math.max(maxResults, minCandidates);
  const size = { k, fetch_k: k * 2 };
  if (!weights) return size;
  const { embedding_weight: similar, text_weight: words } = weights;
  if (similar === 0) return { ...size, search_type: 'lexical' };
  if (words === 0) return { ...size, search_type: 'similarity' };
  return { ...size, search_type: 'hybrid', similarity_factor: Math.min(similar / words, 100) };
}

/**
 * The relevance of a passage without a score of a reranker: its cosine similarity, or after a lexical search its BM25
 * score scaled to less than 1.
 */
export function searchRelevance({ score, similarity }: RetrievedDocument, searchType: string): number {
  if (searchType === 'lexical') return score / (1 + score);
  return Math.min(Math.max(similarity ?? 0, 0), 1);
}

/**
 * Makes the scores fall with the ranking: a passage counts as at least as relevant as the passages after it. So a
 * threshold cuts the ranking at one place.
 */
export function fallingScores(ranking: readonly RankedPassage[]): RankedPassage[] {
  let highest = 0;
  return ranking
    .toReversed()
    .map(({ passage, score }) => {
      highest = Math.max(highest, Math.min(score, 1));
      return { passage, score: highest };
    })
    .toReversed();
}

/** Merges the rankings of several queries. A passage that several queries found counts once, with its best score. */
export function mergeRankings(rankings: readonly RankedPassage[][]): RankedPassage[] {
  const best = new Map<string, RankedPassage>();
  for (const ranked of rankings.flat()) {
    const known = best.get(ranked.passage.id);
    if (!known || known.score < ranked.score) best.set(ranked.passage.id, ranked);
  }
  return [...best.values()].toSorted((a, b) => b.score - a.score);
}
