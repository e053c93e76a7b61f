import {
  defaultCollection,
  type AttributeFilter,
  type RetrievalParameters,
  type RetrievedDocument,
  type SearchType,
} from '#contracts';
import { Metrics, type Profile } from '#service-kit';
import { ChunksRepository } from '#storage';
import { Inject, Injectable } from '@nestjs/common';

/** Injection token of the profile's retrieval parameters. */
export const retrievalDefaults = Symbol('retrievalDefaults');
type RetrievalDefaults = Profile['retrieval'];

/** What the reference implementation uses where its callers leave a parameter out. */
const opeaDefaults = { k: 4, fetch_k: 20, lambda_mult: 0.5, score_threshold: 0.2 };
/** The usual reciprocal rank fusion; profiles say what suits their embedding model. */
const fusionDefaults = { hybrid_fusion: 'rrf', similarity_weight: 1, rank_constant: 60 } as const;
const ownSearchTypes: ReadonlySet<SearchType> = new Set(['lexical', 'hybrid']);

type Optional = 'filter' | 'collection' | 'distance_threshold';
export type DecidedParameters = Required<Omit<RetrievalParameters, Optional>> &
  Pick<RetrievalParameters, Optional>;

/**
 * Fills in what a request leaves open: from the profile, but from OPEA's own defaults where the request names one
 * of OPEA's search types, as callers of those expect.
 */
export function decideParameters(given: RetrievalParameters, profile: RetrievalDefaults): DecidedParameters {
  const stated = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const opeaAsked = given.search_type !== undefined && !ownSearchTypes.has(given.search_type);
  return { ...fusionDefaults, ...opeaDefaults, ...profile, ...(opeaAsked && opeaDefaults), ...stated };
}

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
