import {
  defaultCollection,
  type AttributeFilter,
  type RetrievalParameters,
  type RetrievedDocument,
  type SearchType,
} from '#contracts';
import { Metrics } from '#service-kit';
import { ChunksRepository } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { decideParameters, retrievalDefaults, type RetrievalDefaults } from './retrieval.defaults.js';

export interface RetrievalQuery extends RetrievalParameters {
  query: string;
  /** Whose vector store the collection is, where it is one. */
  owner?: string;
  /** Vector of the question; all search types but `lexical` need one. */
  embedding?: Float32Array;
  attribute_filter?: AttributeFilter;
}

export interface RetrievalResult {
  documents: RetrievedDocument[];
  searchType: SearchType;
}

/** Finds passages; both the HTTP and the NATS side go through it. */
@Injectable()
export class RetrievalService {
  constructor(
    @Inject(ChunksRepository) private readonly chunks: ChunksRepository,
    @Inject(retrievalDefaults) private readonly defaults: RetrievalDefaults,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  /** True where these parameters lead to a search that compares vectors. */
  needsEmbedding(parameters: RetrievalParameters): boolean {
    return decideParameters(parameters, this.defaults).search_type !== 'lexical';
  }

  /**
   * Passages best first. Errors: invalid_request at `embedding` (missing, or of a width that the collection does
   * not hold) or `distance_threshold`, service_unavailable that names postgres.
   */
  retrieve({
    query,
    owner,
    embedding,
    attribute_filter,
    ...given
  }: RetrievalQuery): Promise<RetrievalResult> {
    const parameters = decideParameters(given, this.defaults);
    return this.metrics.measure('retrieve', async () => {
      const documents = await this.chunks.search({
        searchType: parameters.search_type,
        query,
        embedding,
        collection: parameters.collection ?? defaultCollection,
        owner,
        k: parameters.k,
        fetchK: parameters.fetch_k,
        scoreThreshold: parameters.score_threshold,
        distanceThreshold: parameters.distance_threshold,
        lambdaMult: parameters.lambda_mult,
        fusion: {
          method: parameters.hybrid_fusion,
          similarityWeight: parameters.similarity_weight,
          rankConstant: parameters.rank_constant,
        },
        filter: parameters.filter,
        attributeFilter: attribute_filter,
      });
      return { documents, searchType: parameters.search_type };
    });
  }
}
