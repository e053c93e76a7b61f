import type { Profile } from '#platform/service-kit';
import type { ChunkHit, ChunkSearch, FusionSettings } from '#platform/storage';
import { firstWords } from '#platform/foundation';
import type { Reranker } from '#engine/encoders';
import { rankByScore, rankFusion } from '../../apps/reranking/src/rank-by-score.js';
import type { Corpus } from './corpus.js';

/** A way to rank passages for a question, best first. */
export interface Method {
  name: string;
  /** False if a second method does part of the work. */
  timed?: boolean;
  rank(corpus: Corpus, question: string, embedding: Float32Array): Promise<ChunkHit[]>;
}

const usualFusion: FusionSettings = { method: 'rrf', similarityWeight: 1, rankConstant: 60 };
/** Number of passages that chat retrieves. */
const rerankedPassages = 20;
/** End of the name of chat's method. */
export const chatDefault = 'chat’s default';

/** The hybrid search of the profile. */
export function profileFusion({ retrieval }: Profile): FusionSettings {
  return {
    method: retrieval.hybrid_fusion ?? usualFusion.method,
    similarityWeight: retrieval.similarity_weight ?? usualFusion.similarityWeight,
    rankConstant: retrieval.rank_constant ?? usualFusion.rankConstant,
  };
}

/** A search without reranking. */
export function searchMethod(
  name: string,
  searchType: ChunkSearch['searchType'],
  {
    fusion = usualFusion,
    fetchK = 40,
    k = 10,
  }: { fusion?: FusionSettings; fetchK?: number; k?: number } = {},
): Method {
  return {
    name,
    rank: (corpus, query, embedding) =>
      corpus.search({ searchType, query, embedding, k, fetchK, fusion, scoreThreshold: 0, lambdaMult: 1 }),
  };
}

type Reorder = (question: string, hits: readonly ChunkHit[], scores: readonly number[]) => ChunkHit[];

/** Reranks like the reranking service. */
function byService(settings: Profile['reranking']): Reorder {
  return (query, hits, scores) => {
    const passages = hits.map(({ text }) => firstWords(text, settings.maxPassageWords));
    const fusion = rankFusion(settings, { query, passages, scores: hits.map(({ score }) => score) });
    return rankByScore(scores, fusion).flatMap(({ index }) => hits[index] ?? []);
  };
}

function describeRerankFusion(settings: Profile['reranking']): string {
  const { fusion, fusionWeight, fusionConstant, fusionPhraseWeight } = settings;
  return fusion === 'rrf'
    ? `rrf, constant ${fusionConstant}, weight ${fusionWeight}`
    : `${fusion}, weight ${fusionWeight}, a phrase ${fusionPhraseWeight}`;
}

/** Ways to use the reranker's scores of the same hits; the reranker runs once for each question. */
function rerankMethods(base: Method, reranker: Reranker, profile: Profile): Method[] {
  const scored = new Map<string, Promise<{ hits: ChunkHit[]; scores: number[] }>>();
  const score = async (...[corpus, question, embedding]: Parameters<Method['rank']>) => {
    const hits = await base.rank(corpus, question, embedding);
    const passages = hits.map(({ text }) => firstWords(text, profile.reranking.maxPassageWords));
    return { hits, scores: (await reranker.rerank(question, passages)).scores };
  };
  const method = (name: string, reorder: Reorder): Method => ({
    name: `that hybrid, its top ${rerankedPassages} ${name}`,
    timed: false,
    rank: async (corpus, question, embedding) => {
      const known = scored.get(question) ?? score(corpus, question, embedding);
      scored.set(question, known);
      const { hits, scores } = await known;
      return reorder(question, hits, scores);
    },
  });
  const previous = { ...profile.reranking, fusion: 'rrf', fusionWeight: 0.35, fusionConstant: 10 } as const;
  const fused = (settings: Profile['reranking'], note = '') =>
    method(`fused with the reranker’s order (${describeRerankFusion(settings)})${note}`, byService(settings));
  return [
    method('in the reranker’s order', byService({ ...profile.reranking, fusion: 'none' })),
    fused(previous),
    fused(profile.reranking, `: ${chatDefault}`),
  ];
}

/** The methods that the report compares. */
export function comparedMethods(profile: Profile, reranker: Reranker): Method[] {
  const fetchK = profile.retrieval.fetch_k;
  const settings = { fusion: profileFusion(profile), fetchK };
  const wide = searchMethod('hybrid', 'hybrid', { ...settings, k: rerankedPassages });
  return [
    searchMethod('lexical', 'lexical'),
    searchMethod('similarity', 'similarity'),
    searchMethod('hybrid, reciprocal ranks, equal weights', 'hybrid', { fetchK }),
    searchMethod(`hybrid as the profile has it (${describeFusion(settings.fusion)})`, 'hybrid', settings),
    ...rerankMethods(wide, reranker, profile),
  ];
}

export function describeFusion({ method, similarityWeight, rankConstant }: FusionSettings): string {
  return method === 'rrf'
    ? `rrf, constant ${rankConstant}, similarity weight ${similarityWeight}`
    : `scores, similarity weight ${similarityWeight}`;
}
