import {
  decodeVectors,
  embed,
  encodeVector,
  MegaNestError,
  rerank,
  retrieve,
  type AttributeFilter,
  type RetrievedDocument,
} from '#contracts';
import { RpcClient, type CallOptions } from '#messaging';
import { VectorStoreFilesRepository, VectorStoresRepository, type StoredVectorStoreFile } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import {
  fallingScores,
  mergeRankings,
  retrievalParametersOf,
  searchRelevance,
  type RankedPassage,
} from './passage-ranking.js';
import type { RankingOptions } from './vector-store.requests.js';

export interface StoreSearch {
  /** Stores that the caller has made sure of. */
  /** Whose stores are searched. */
  owner: string;
  storeIds: readonly string[];
  queries: readonly string[];
  filters?: AttributeFilter;
  maxResults: number;
  ranking: RankingOptions;
}

/** A passage that was found, and the file that it stands in. */
export interface FoundPassage {
  file: StoredVectorStoreFile;
  passage: RetrievedDocument;
  /** Relevance from 0 to 1, comparable within one answer. */
  score: number;
}

/** Searches vector stores: hybrid retrieval, then the reranker. */
@Injectable()
export class VectorStoreSearch {
  constructor(
    @Inject(RpcClient) private readonly rpc: RpcClient,
    @Inject(VectorStoresRepository) private readonly stores: VectorStoresRepository,
    @Inject(VectorStoreFilesRepository) private readonly attached: VectorStoreFilesRepository,
  ) {}

  /** Best first, scores falling. The stores count as used. Errors: service_unavailable that names the service. */
  async search(search: StoreSearch, call: CallOptions): Promise<FoundPassage[]> {
    const { queries, storeIds, maxResults, ranking } = search;
    await this.stores.touch(storeIds);
    const needsVectors = ranking.hybrid_search?.embedding_weight !== 0;
    const vectors = needsVectors ? await this.#embed(queries, call) : [];
    const rankings = await Promise.all(
      queries.map((query, index) => this.#rank(query, vectors[index], search, call)),
    );
    const passing = mergeRankings(rankings).filter(({ score }) => score >= ranking.score_threshold);
    return (await this.#withFiles(passing, storeIds)).slice(0, maxResults);
  }

  async #embed(queries: readonly string[], call: CallOptions): Promise<Float32Array[]> {
    const reply = await this.rpc.request(embed, { inputs: [...queries], truncate: true }, call);
    return decodeVectors(reply.vectors, reply.dimensions);
  }

  async #rank(
    query: string,
    vector: Float32Array | undefined,
    { owner, storeIds, filters, maxResults, ranking }: StoreSearch,
    call: CallOptions,
  ): Promise<RankedPassage[]> {
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
    const candidates = replies.flatMap(({ documents }) => documents).toSorted((a, b) => b.score - a.score);
    const reranked = ranking.ranker === 'none' ? undefined : await this.#rerank(query, candidates, call);
    if (reranked) return fallingScores(reranked);
    const searchType = replies[0]?.searchType ?? 'hybrid';
    return fallingScores(
      candidates.map((passage) => ({ passage, score: searchRelevance(passage, searchType) })),
    );
  }

  /** Undefined where the reranking service is away: what the search found is better than nothing. */
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

  /** Passages whose file has been taken out of its store since they were found are left out: they would point nowhere. */
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
