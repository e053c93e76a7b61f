import type { ChunkHit, FusionSettings } from './chunk-search.js';

/** The two rankings of a hybrid search, best first: scores are BM25 and cosine similarity. */
export interface HybridRankings {
  lexical: readonly ChunkHit[];
  similar: readonly ChunkHit[];
}

/** Fuses both rankings, best first; of equal scores, results of the full text search come first. */
export function fuse(rankings: HybridRankings, settings: FusionSettings): ChunkHit[] {
  const fused = new Map<string, ChunkHit>();
  for (const { hit, gain } of contributionsBy[settings.method](rankings, settings)) {
    const known = fused.get(hit.id);
    fused.set(hit.id, { ...known, ...hit, score: (known?.score ?? 0) + gain });
  }
  return [...fused.values()].sort((left, right) => right.score - left.score);
}

interface Contribution {
  hit: ChunkHit;
  gain: number;
}

/**
 * Reciprocal rank fusion: the sum of `weight / (constant + rank)` over the rankings that contain the passage, with
 * rank 1 for the best.
 */
function byReciprocalRank(
  { lexical, similar }: HybridRankings,
  { rankConstant, similarityWeight }: FusionSettings,
): Contribution[] {
  const gain = (index: number) => 1 / (rankConstant + index + 1);
  return [
    ...lexical.map((hit, index) => ({ hit, gain: gain(index) })),
    ...similar.map((hit, index) => ({ hit, gain: similarityWeight * gain(index) })),
  ];
}

/**
 * BM25 plus the weighted cosine similarity. A passage that the vector search did not return is at most as similar
 * as the last one that it did, so similarity counts from there.
 */
function byScore({ lexical, similar }: HybridRankings, { similarityWeight }: FusionSettings): Contribution[] {
  const floor = similar.at(-1)?.score ?? 0;
  return [
    ...lexical.map((hit) => ({ hit, gain: hit.score })),
    ...similar.map((hit) => ({ hit, gain: similarityWeight * (hit.score - floor) })),
  ];
}

const contributionsBy: Record<
  FusionSettings['method'],
  (rankings: HybridRankings, settings: FusionSettings) => Contribution[]
> = { rrf: byReciprocalRank, scores: byScore };
