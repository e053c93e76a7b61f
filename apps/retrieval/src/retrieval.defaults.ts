import type { RetrievalParameters, SearchType } from '#contracts';
import type { Profile } from '#service-kit';

/** Injection token of the profile's retrieval parameters. */
export const retrievalDefaults = Symbol('retrievalDefaults');
export type RetrievalDefaults = Profile['retrieval'];

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
