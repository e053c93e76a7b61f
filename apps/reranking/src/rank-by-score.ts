import { pairsOf, splitWords, stemOf } from '#engine/encoders';
import type { Profile } from '#platform/service-kit';

/**
 * The number of phrases of a query in each text. A phrase is two consecutive words without the stop words between them,
 * compared by their stems. A lexical search does not see the order of words.
 */
export function sharedPhrases(query: string, texts: readonly string[]): number[] {
  const asked = phrasesOf(query);
  return texts.map((text) => [...phrasesOf(text)].filter((phrase) => asked.has(phrase)).length);
}

function phrasesOf(text: string): Set<string> {
  return pairsOf(splitWords(text).flatMap((word) => stemOf(word) ?? []));
}

/** Index of a passage in the request, and its score; greater is better. */
interface RankedPassage {
  index: number;
  score: number;
}

/** The fusion of the model's ranking with the ranking of the search. */
export type RankFusion =
  | {
      /** Reciprocal rank fusion (Cormack et al. 2009): the search's ranking is the order of the request. */
      method: 'rrf';
      /** Weight of the model's ranking; the weight of the search is 1. */
      weight: number;
      /** Reduces the lead of the first ranks; 60 in the paper. */
      constant: number;
    }
  | {
      /**
       * Sum of standard scores: the distance of a passage from the mean of the request in standard deviations. The
       * fused score is the logistic function of the sum, between 0 and 1: 0.5 at the mean without phrases of the query.
       */
      method: 'scores';
      weight: number;
      /** Scores of the search, in the order of the request. */
      searchScores: readonly number[];
      /** Added to the sum: `weight` for each of the query's phrases that a passage has. */
      phrases?: { weight: number; counts: readonly number[] };
    };

/** The facts about the passages besides the scores of the model. */
interface FusedRequest {
  query: string;
  passages: readonly string[];
  /** Scores of the search. */
  scores?: readonly number[];
}

/** The fusion of a profile; undefined for `fusion: none`, and for a fusion by scores without scores of the search. */
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

/**
 * Returns passages best first: by the model's scores (0–1) or by the fused score. Equal scores keep the model's order.
 */
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

/** Standard scores; zeros if all values are equal. */
function standardize(values: readonly number[]): number[] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const deviation = Math.sqrt(variance);
  return values.map((value) => (deviation > 0 ? (value - mean) / deviation : 0));
}

/** The logit, which is also finite for 0 and 1. */
function logit(probability: number): number {
  const bounded = Math.min(Math.max(probability, 1e-9), 1 - 1e-9);
  return Math.log(bounded / (1 - bounded));
}

/** Sorts by score. Passages with equal scores keep their order. */
function byScore(passages: readonly RankedPassage[]): RankedPassage[] {
  return passages.toSorted((a, b) => b.score - a.score);
}
