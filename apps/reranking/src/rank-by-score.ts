import { pairsOf, splitWords, stemOf } from '#encoders';
import type { Profile } from '#service-kit';

/**
 * How many phrases of a query each text has: two words that follow each other but for stop words, compared by their stems. A search
 * by words does not see their order.
 */
export function sharedPhrases(query: string, texts: readonly string[]): number[] {
  const asked = phrasesOf(query);
  return texts.map((text) => [...phrasesOf(text)].filter((phrase) => asked.has(phrase)).length);
}

function phrasesOf(text: string): Set<string> {
  return pairsOf(splitWords(text).flatMap((word) => stemOf(word) ?? []));
}

/** Position of a passage in the request, and how well it answers; greater is better. */
interface RankedPassage {
  index: number;
  score: number;
}

/** How the model's ranking and that of a search become one. */
export type RankFusion =
  | {
      /** Reciprocal rank fusion (Cormack et al. 2009): the search's ranking is the order of the request. */
      method: 'rrf';
      /** Weight of the model's ranking; that of the search is 1. */
      weight: number;
      /** Reduces the lead of the first ranks; 60 in the paper. */
      constant: number;
    }
  | {
      /**
       * Sum of standard scores: how many standard deviations a passage is above the mean of the request. The fused score is
       * its logistic function, between 0 and 1: 0.5 for a passage like the mean, without phrases of the query.
       */
      method: 'scores';
      weight: number;
      /** Scores of the search, in the order of the request. */
      searchScores: readonly number[];
      /** Added to the sum: `weight` for each of the query's phrases that a passage has. */
      phrases?: { weight: number; counts: readonly number[] };
    };

/** What is known of the passages besides the scores of the model. */
interface FusedRequest {
  query: string;
  passages: readonly string[];
  /** Of the search. */
  scores?: readonly number[];
}

/** The fusion as a profile sets it; none by `fusion: none`, and none by scores where the search gave none. */
export function rankFusion(
  {
    fusion: method,
    fusionWeight: weight,
    fusionConstant: constant,
    fusionPhraseWeight,
  }: Profile['reranking'],
  { query, passages, scores: searchScores }: FusedRequest,
): RankFusion | undefined {
  if (method === 'rrf') return { method, weight, constant };
  if (method === 'none' || !searchScores) return undefined;
  const phrases =
    fusionPhraseWeight > 0
      ? { weight: fusionPhraseWeight, counts: sharedPhrases(query, passages) }
      : undefined;
  return { method, weight, searchScores, phrases };
}

/** Returns passages best first: by the model's scores (0–1) or by the fused score. Equal scores keep the model's order. */
export function rankByScore(scores: readonly number[], fusion?: RankFusion): RankedPassage[] {
  const ranked = byScore(scores.map((score, index) => ({ index, score })));
  if (!fusion) return ranked;
  const gains = fusion.method === 'rrf' ? reciprocalRanks(ranked, fusion) : standardScores(scores, fusion);
  return byScore(ranked.map(({ index }) => ({ index, score: gains[index]! })));
}

function reciprocalRanks(
  ranked: readonly RankedPassage[],
  { weight, constant }: Extract<RankFusion, { method: 'rrf' }>,
): number[] {
  const reciprocal = (rank: number) => 1 / (constant + rank + 1);
  const gains = ranked.map((_, index) => reciprocal(index));
  for (const [rank, { index }] of ranked.entries()) gains[index]! += weight * reciprocal(rank);
  return gains;
}

function standardScores(
  scores: readonly number[],
  { weight, searchScores, phrases }: Extract<RankFusion, { method: 'scores' }>,
): number[] {
  const bonus = (index: number) => (phrases ? phrases.weight * phrases.counts[index]! : 0);
  const model = standardize(scores.map(logit));
  const search = standardize(searchScores);
  return model.map((score, index) => 1 / (1 + Math.exp(-(weight * score + search[index]! + bonus(index)))));
}

/** Zeros if all values are equal. */
function standardize(values: readonly number[]): number[] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const deviation = Math.sqrt(variance);
  return values.map((value) => (deviation > 0 ? (value - mean) / deviation : 0));
}

/** Finite for 0 and 1 too. */
function logit(probability: number): number {
  const bounded = Math.min(Math.max(probability, 1e-9), 1 - 1e-9);
  return Math.log(bounded / (1 - bounded));
}

/** Stable: passages of one score keep their order. */
function byScore(passages: readonly RankedPassage[]): RankedPassage[] {
  return passages.toSorted((a, b) => b.score - a.score);
}
