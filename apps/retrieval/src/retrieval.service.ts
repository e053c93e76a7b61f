import {
  defaultCollection,
  maxQueryCharacters,
  type AttributeFilter,
  type ParsedRequestOf,
  type readNamedDocuments,
  type readNeighbours,
  type ReplyOf,
  type retrieve,
  type RetrievalParameters,
  type SearchType,
} from '#platform/contracts';
import { Metrics, type Profile } from '#platform/service-kit';
import { ChunksRepository } from '#platform/storage';
import { matchDocumentName } from '#answers/questions';
import { Inject, Injectable } from '@nestjs/common';
import { EmbeddingModelCheck } from './embedding-model.js';

/** Injection token of the profile's retrieval parameters. */
export const retrievalDefaults = Symbol('retrievalDefaults');
type RetrievalDefaults = Profile['retrieval'];

/** Defaults of the reference implementation. */
const opeaDefaults = { k: 4, fetch_k: 20, lambda_mult: 0.5, score_threshold: 0.2 };
/** Standard reciprocal rank fusion. Profiles set other values for their embedding models. */
const fusionDefaults = { hybrid_fusion: 'rrf', similarity_weight: 1, rank_constant: 60 } as const;
const ownSearchTypes: ReadonlySet<SearchType> = new Set(['lexical', 'hybrid']);

type Optional = 'filter' | 'collection' | 'distance_threshold';
export type DecidedParameters = Required<Omit<RetrievalParameters, Optional>> &
  Pick<RetrievalParameters, Optional>;

/**
 * Fills in missing parameters of a request from the profile. If the request names one of OPEA's search types, OPEA's
 * defaults are used instead: callers of these search types expect them.
 */
export function decideParameters(given: RetrievalParameters, profile: RetrievalDefaults): DecidedParameters {
  const stated = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const opeaAsked = given.search_type !== undefined && !ownSearchTypes.has(given.search_type);
  return { ...fusionDefaults, ...opeaDefaults, ...profile, ...(opeaAsked && opeaDefaults), ...stated };
}

export interface RetrievalQuery extends RetrievalParameters {
  query: string;
  /** Owner of the vector store, if the collection is a vector store. */
  owner?: string;
  /** Vector of the question; all search types but `lexical` need one. */
  embedding?: Float32Array;
  attribute_filter?: AttributeFilter;
  /** Multiplies the weight of the vector search in a hybrid search. */
  similarity_factor?: number;
  preferred_documents?: readonly string[];
  passages?: readonly string[];
}

export type RetrievalResult = ReplyOf<typeof retrieve>;

/** Finds passages, for the HTTP API and the NATS methods. */
@Injectable()
export class RetrievalService {
  constructor(
    @Inject(ChunksRepository) private readonly chunks: ChunksRepository,
    @Inject(retrievalDefaults) private readonly defaults: RetrievalDefaults,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(EmbeddingModelCheck) private readonly models: EmbeddingModelCheck,
  ) {}

  /** True if a search with these parameters compares vectors. */
  needsEmbedding(parameters: RetrievalParameters): boolean {
    return decideParameters(parameters, this.defaults).search_type !== 'lexical';
  }

  /**
   * Finds passages, best first; by words if the collection has vectors of another embedding model. Errors: invalid_request for `embedding` (missing, or a number of dimensions that the
   * collection does not contain) or `distance_threshold`; service_unavailable, which names postgres.
   */
  retrieve({
    query,
    owner,
    embedding,
    attribute_filter,
    similarity_factor = 1,
    preferred_documents: preferredDocuments,
    passages,
    ...given
  }: RetrievalQuery): Promise<RetrievalResult> {
    const parameters = decideParameters(given, this.defaults);
    const { collection = defaultCollection } = parameters;
    return this.metrics.measure('retrieve', async () => {
      const { hits, searchType, isForeign } = await this.chunks.find({
        searchType: parameters.search_type,
        embeddingModel: parameters.search_type === 'lexical' ? undefined : await this.models.served(),
        // Postgres would search for each word of a long text.
        query: query.slice(0, maxQueryCharacters),
        embedding,
        collection,
        owner,
        k: parameters.k,
        fetchK: parameters.fetch_k,
        scoreThreshold: parameters.score_threshold,
        distanceThreshold: parameters.distance_threshold,
        lambdaMult: parameters.lambda_mult,
        fusion: {
          method: parameters.hybrid_fusion,
          similarityWeight: parameters.similarity_weight * similarity_factor,
          rankConstant: parameters.rank_constant,
        },
        filter: parameters.filter,
        attributeFilter: attribute_filter,
        preferredDocuments,
        passages,
      });
      return {
        documents: hits,
        searchType,
        ...(isForeign && { degraded: 'embedding_model_changed' as const }),
      };
    });
  }

  /** The documents that a question names, read whole. Errors: service_unavailable, which names postgres. */
  async namedDocuments({
    names,
    collection = defaultCollection,
    owner,
    filter,
    max_words: maxWords,
  }: ParsedRequestOf<typeof readNamedDocuments>): Promise<ReplyOf<typeof readNamedDocuments>> {
    return this.metrics.measure('named_documents', async () => {
      const scope = { collection, owner, filter };
      const titles = await this.chunks.titles(scope);
      const matches = names.map((name) => matchDocumentName(name, titles));
      const found = matches.flatMap((match) => (match.kind === 'one' ? [match.document] : []));
      if (found.length < names.length)
        return {
          names: matches.map((match) => ({
            kind: match.kind,
            documents: match.kind === 'one' ? [match.document] : match.documents,
          })),
          passages: [],
        };
      const share = Math.max(1, Math.floor(maxWords / found.length));
      const read = await Promise.all(
        found.map(({ id }) => this.chunks.readDocument(scope, { id, maxWords: share })),
      );
      return {
        names: found.map((document, index) => ({
          kind: 'one' as const,
          documents: [document],
          ...(read[index]?.isCut && { isCut: true }),
        })),
        passages: read.flatMap(({ chunks }) => chunks),
      };
    });
  }

  /** The passages around found ones in their sections. Errors: service_unavailable, which names postgres. */
  async neighbours({
    ids,
    owner,
    max_words: maxWords,
  }: ParsedRequestOf<typeof readNeighbours>): Promise<ReplyOf<typeof readNeighbours>> {
    return this.metrics.measure('neighbours', async () => ({
      neighbours: await this.chunks.neighbours({ ids, owner, maxWords }),
    }));
  }
}
