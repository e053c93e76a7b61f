import type { RetrievedDocument, RetrievalParameters } from '#contracts';
import type { RankingOptions } from './vector-store.requests.js';

/** A passage with its relevance, from 0 to 1. */
export interface RankedPassage {
  passage: RetrievedDocument;
  score: number;
}

/** Candidates that a reranker orders; fewer would leave it nothing to find. */
const leastCandidates = 20;

/** What retrieval is asked for. Weights become those of a reciprocal rank fusion; a weight of 0 leaves a search out. */
export function retrievalParametersOf(
  { hybrid_search: weights }: RankingOptions,
  maxResults: number,
): RetrievalParameters {
  const k = Math.max(maxResults, leastCandidates);
  const size = { k, fetch_k: k * 2 };
  if (!weights) return size;
  const { embedding_weight: similar, text_weight: words } = weights;
  if (similar === 0) return { ...size, search_type: 'lexical' };
  if (words === 0) return { ...size, search_type: 'similarity' };
  const weight = Math.min(similar / words, 100);
  return { ...size, search_type: 'hybrid', hybrid_fusion: 'rrf', similarity_weight: weight };
}

/**
 * The relevance of a passage that no reranker has judged: its cosine similarity; where only words were searched, its
 * BM25 squeezed below 1.
 */
export function searchRelevance({ score, similarity }: RetrievedDocument, searchType: string): number {
  if (searchType === 'lexical') return score / (1 + score);
  return Math.min(Math.max(similarity ?? 0, 0), 1);
}

/**
 * Scores that fall with the ranking: a passage counts as at least as relevant as those that were ranked behind it. So
 * a threshold cuts the ranking at one place.
 */
export function fallingScores(ranking: readonly RankedPassage[]): RankedPassage[] {
  let highest = 0;
  return ranking
    .toReversed()
    .map(({ passage, score }) => {
      highest = Math.max(highest, Math.min(score, 1));
      return { passage, score: highest };
    })
    .toReversed();
}

/** One ranking of those of several queries; a passage that several found counts once, at its best. */
export function mergeRankings(rankings: readonly RankedPassage[][]): RankedPassage[] {
  const best = new Map<string, RankedPassage>();
  for (const ranked of rankings.flat()) {
    const known = best.get(ranked.passage.id);
    if (!known || known.score < ranked.score) best.set(ranked.passage.id, ranked);
  }
  return [...best.values()].toSorted((a, b) => b.score - a.score);
}
