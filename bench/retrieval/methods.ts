import type { Reranker } from '#inference';
import type { Profile } from '#service-kit';
import type { ChunkHit, ChunkSearch, FusionSettings } from '#storage';
import { cutWords } from '../../apps/reranking/src/cut-words.js';
import { rankByScore } from '../../apps/reranking/src/rank-by-score.js';
import type { Corpus } from './corpus.js';

/** A way to rank passages for a question, best first. */
export interface Method {
  name: string;
  rank(corpus: Corpus, question: string, embedding: Float32Array): Promise<ChunkHit[]>;
}

const usualFusion: FusionSettings = { method: 'rrf', similarityWeight: 1, rankConstant: 60 };
const rerankedPassages = 20;

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

function rerankMethod(
  name: string,
  base: Method,
  reranker: Reranker,
  profile: Profile,
  fusion: 'none' | 'rrf',
): Method {
  return {
    name,
    rank: async (corpus, question, embedding) => {
      const hits = await base.rank(corpus, question, embedding);
      const passages = hits.map(({ text }) => cutWords(text, profile.reranking.maxPassageWords));
      const { scores } = await reranker.rerank(question, passages);
      return rankByScore(scores, fusion).flatMap(({ index }) => hits[index] ?? []);
    },
  };
}

/** What the report compares. */
export function comparedMethods(profile: Profile, reranker: Reranker): Method[] {
  const fetchK = profile.retrieval.fetch_k;
  const settings = { fusion: profileFusion(profile), fetchK };
  const wide = searchMethod('hybrid', 'hybrid', { ...settings, k: rerankedPassages });
  return [
    searchMethod('lexical', 'lexical'),
    searchMethod('similarity', 'similarity'),
    searchMethod('hybrid, reciprocal ranks, equal weights', 'hybrid', { fetchK }),
    searchMethod(`hybrid as the profile has it (${describeFusion(settings.fusion)})`, 'hybrid', settings),
    rerankMethod('that hybrid, its top 20 in the reranker’s order', wide, reranker, profile, 'none'),
    rerankMethod('that hybrid, its top 20 fused with the reranker’s order', wide, reranker, profile, 'rrf'),
  ];
}

export function describeFusion({ method, similarityWeight, rankConstant }: FusionSettings): string {
  return method === 'rrf'
    ? `rrf, constant ${rankConstant}, similarity weight ${similarityWeight}`
    : `scores, similarity weight ${similarityWeight}`;
}

/** Settings of hybrid that are tried on the tuning half. */
export function tunedMethods(): Method[] {
  const fusions: FusionSettings[] = [
    ...[1, 5, 20, 60].flatMap((rankConstant) =>
      [1, 0.5, 0.25].map((similarityWeight) => ({ method: 'rrf' as const, similarityWeight, rankConstant })),
    ),
    ...[3, 5, 8, 12].map((similarityWeight) => ({
      method: 'scores' as const,
      similarityWeight,
      rankConstant: 60,
    })),
  ];
  return [20, 40].flatMap((fetchK) =>
    fusions.map((fusion) =>
      searchMethod(`${describeFusion(fusion)}, fetch_k ${fetchK}`, 'hybrid', { fusion, fetchK }),
    ),
  );
}
