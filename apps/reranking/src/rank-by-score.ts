import type { RerankingParameters } from '#contracts';

/** Position of a passage in the request, and how well it answers; greater is better. */
export interface RankedPassage {
  index: number;
  score: number;
}

/** Damps the lead of the first ranks, as in the paper that introduced reciprocal rank fusion. */
const rankConstant = 60;

/**
 * Passages best first. `none`: by the model's score. `rrf`: by the sum of 1 / (60 + rank) over the model's order and
 * the order of the request; equal sums keep the model's order.
 */
export function rankByScore(
  scores: readonly number[],
  fusion: NonNullable<RerankingParameters['fusion']>,
): RankedPassage[] {
  const ranked = byScore(scores.map((score, index) => ({ index, score })));
  if (fusion === 'none') return ranked;
  return byScore(ranked.map(({ index }, rank) => ({ index, score: reciprocal(rank) + reciprocal(index) })));
}

/** Stable: passages of one score keep their order. */
function byScore(passages: readonly RankedPassage[]): RankedPassage[] {
  return passages.toSorted((a, b) => b.score - a.score);
}

function reciprocal(rank: number): number {
  return 1 / (rankConstant + rank + 1);
}
