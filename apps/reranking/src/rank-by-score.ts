/** Position of a passage in the request, and how well it answers; greater is better. */
export interface RankedPassage {
  index: number;
  score: number;
}

/** How two orders become one (reciprocal rank fusion, Cormack et al. 2009). */
export interface RankFusion {
  /** What the model's order counts beside that of the request. */
  weight: number;
  /** Damps the lead of the first ranks; 60 in the paper. */
  constant: number;
}

/**
 * Passages best first. Without fusion: by the model's score. With it: by the sum of 1 / (constant + rank) in the order
 * of the request and weight / (constant + rank) in the model's; equal sums keep the model's order.
 */
export function rankByScore(scores: readonly number[], fusion?: RankFusion): RankedPassage[] {
  const ranked = byScore(scores.map((score, index) => ({ index, score })));
  if (!fusion) return ranked;
  const reciprocal = (rank: number) => 1 / (fusion.constant + rank + 1);
  return byScore(
    ranked.map(({ index }, rank) => ({ index, score: fusion.weight * reciprocal(rank) + reciprocal(index) })),
  );
}

/** Stable: passages of one score keep their order. */
function byScore(passages: readonly RankedPassage[]): RankedPassage[] {
  return passages.toSorted((a, b) => b.score - a.score);
}
