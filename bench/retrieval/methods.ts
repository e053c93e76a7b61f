import type { Reranker } from '#inference';
import type { Profile } from '#service-kit';
import { fuse, type ChunkHit, type ChunkSearch, type FusionSettings } from '#storage';
import { cutWords } from '../../apps/reranking/src/cut-words.js';
import { rankByScore } from '../../apps/reranking/src/rank-by-score.js';
import type { Corpus } from './corpus.js';

/** A way to rank passages for a question, best first. */
export interface Method {
  name: string;
  /** False where a second method does part of the work. */
  timed?: boolean;
  rank(corpus: Corpus, question: string, embedding: Float32Array): Promise<ChunkHit[]>;
}

const usualFusion: FusionSettings = { method: 'rrf', similarityWeight: 1, rankConstant: 60 };
const rerankedPassages = 20;
/** How the name of the method ends that chat uses. */
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

type Reorder = (hits: readonly ChunkHit[], scores: readonly number[]) => ChunkHit[];

/** As the reranking service does it. */
function byService(fusion: 'none' | 'rrf'): Reorder {
  return (hits, scores) => rankByScore(scores, fusion).flatMap(({ index }) => hits[index] ?? []);
}

/** The reranker counts half as much as the search, and the first ranks lead by more. */
function byHalfWeight(hits: readonly ChunkHit[], scores: readonly number[]): ChunkHit[] {
  const settings: FusionSettings = { method: 'rrf', similarityWeight: 0.5, rankConstant: 10 };
  return fuse({ lexical: hits, similar: byService('none')(hits, scores) }, settings);
}

/** Ways to use the reranker's scores of the same hits; it is asked once a question. */
function rerankMethods(base: Method, reranker: Reranker, profile: Profile): Method[] {
  const scored = new Map<string, Promise<{ hits: ChunkHit[]; scores: number[] }>>();
  const score = async (...[corpus, question, embedding]: Parameters<Method['rank']>) => {
    const hits = await base.rank(corpus, question, embedding);
    const passages = hits.map(({ text }) => cutWords(text, profile.reranking.maxPassageWords));
    return { hits, scores: (await reranker.rerank(question, passages)).scores };
  };
  const method = (name: string, reorder: Reorder, width = rerankedPassages): Method => ({
    name: `that hybrid, its top ${width} ${name}`,
    timed: false,
    rank: async (corpus, question, embedding) => {
      const known = scored.get(question) ?? score(corpus, question, embedding);
      scored.set(question, known);
      const { hits, scores } = await known;
      return reorder(hits.slice(0, width), scores.slice(0, width));
    },
  });
  const { retrieval, reranking } = profile;
  return [
    method(
      `by the reranking service (${reranking.fusion}): ${chatDefault}`,
      byService(reranking.fusion),
      retrieval.k,
    ),
    method('in the reranker’s order', byService('none')),
    method('fused with the reranker’s order (rrf, constant 60, equal weights)', byService('rrf')),
    method('fused with the reranker’s order (rrf, constant 10, half weight)', byHalfWeight),
  ];
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
    ...rerankMethods(wide, reranker, profile),
  ];
}

export function describeFusion({ method, similarityWeight, rankConstant }: FusionSettings): string {
  return method === 'rrf'
    ? `rrf, constant ${rankConstant}, similarity weight ${similarityWeight}`
    : `scores, similarity weight ${similarityWeight}`;
}
