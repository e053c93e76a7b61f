import type { RandomSource } from '#models';
import type { SamplingSettings } from './sampling-settings.js';

interface Candidate {
  readonly id: number;
  readonly weight: number;
}

/** Index of the greatest number; the first of equals. */
export function likeliestToken(logits: Float32Array): number {
  let best = 0;
  let greatest = logits[0]!;
  for (let id = 1; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit > greatest) {
      best = id;
      greatest = logit;
    }
  }
  return best;
}

/** By how much the greatest number exceeds the second. */
export function leadOfLikeliest(logits: Float32Array): number {
  let first = -Infinity;
  let second = -Infinity;
  // Walking an iterator over tens of thousands of numbers takes several times as long.
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit > first) {
      second = first;
      first = logit;
    } else if (logit > second) second = logit;
  }
  return first - second;
}

/**
 * Draws a token: temperature, then min_p, top_k, and top_p among what is left. Consumes exactly one random number, also
 * where only one candidate remains, so that a seed means the same in every setting. Temperature 0 consumes none.
 */
export function chooseToken(logits: Float32Array, settings: SamplingSettings, random: RandomSource): number {
  if (settings.temperature === 0) return likeliestToken(logits);
  const candidates = narrow(weigh(logits, settings), settings);
  const total = candidates.reduce((sum, { weight }) => sum + weight, 0);
  let left = random() * total;
  for (const { id, weight } of candidates) {
    left -= weight;
    if (left < 0) return id;
  }
  return candidates.at(-1)!.id;
}

/** Tokens with exp((logit − greatest) / temperature), in the order of their ids; those that min_p drops are left out. */
function weigh(logits: Float32Array, settings: SamplingSettings): Candidate[] {
  const greatest = logits[likeliestToken(logits)]!;
  // Below this a weight is under 1e-16 of the greatest and can never be drawn.
  const floor = Math.max(settings.minP, 1e-16);
  const candidates: Candidate[] = [];
  for (let id = 0; id < logits.length; id++) {
    const weight = Math.exp((logits[id]! - greatest) / settings.temperature);
    if (weight >= floor) candidates.push({ id, weight });
  }
  return candidates;
}

function narrow(candidates: Candidate[], { topK, topP }: SamplingSettings): Candidate[] {
  const limitsCount = topK > 0 && topK < candidates.length;
  if (!limitsCount && topP >= 1) return candidates;
  const sorted = candidates.sort((a, b) => b.weight - a.weight || a.id - b.id);
  const kept = limitsCount ? sorted.slice(0, topK) : sorted;
  if (topP >= 1) return kept;
  const enough = topP * kept.reduce((sum, { weight }) => sum + weight, 0);
  let sum = 0;
  const end = kept.findIndex(({ weight }) => (sum += weight) >= enough);
  return end < 0 ? kept : kept.slice(0, end + 1);
}
