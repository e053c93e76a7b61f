import type { ChunkHit } from './chunk-search.js';

/** A ranking, best first, and how much it counts. */
export interface WeightedRanking {
  hits: readonly ChunkHit[];
  weight: number;
}

/**
 * Reciprocal rank fusion: a passage scores the sum of `weight / (constant + rank)` over the rankings that hold it,
 * rank 1 being the best. Answers all passages, best first; ties keep the order of the rankings.
 */
export function fuseRankings(rankings: readonly WeightedRanking[], constant: number): ChunkHit[] {
  const fused = new Map<string, ChunkHit>();
  for (const { hits, weight } of rankings) {
    hits.forEach((hit, index) => {
      const score = (fused.get(hit.id)?.score ?? 0) + weight / (constant + index + 1);
      fused.set(hit.id, { ...hit, score });
    });
  }
  return [...fused.values()].sort((left, right) => right.score - left.score);
}
