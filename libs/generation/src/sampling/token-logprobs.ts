import type { TokenLogprob } from '#contracts';
import type { TokenVocabulary } from '#models';

/** Natural logarithms of the probabilities before any parameter was applied, as OpenAI reports them. */
export function tokenLogprob(
  logits: Float32Array,
  chosen: number,
  alternatives: number,
  vocabulary: TokenVocabulary,
): TokenLogprob {
  const normaliser = logSumExp(logits);
  const describe = (id: number) => ({
    token: vocabulary.textOf(id),
    logprob: logits[id]! - normaliser,
    bytes: [...vocabulary.bytesOf(id)],
  });
  return { ...describe(chosen), top_logprobs: greatest(logits, alternatives).map(describe) };
}

/** Natural logarithm of one token's probability. */
export function logLikelihood(logits: Float32Array, id: number): number {
  return logits[id]! - logSumExp(logits);
}

function logSumExp(logits: Float32Array): number {
  let max = -Infinity;
  for (const logit of logits) if (logit > max) max = logit;
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - max);
  return max + Math.log(sum);
}

/** Ids of the greatest numbers, best first. */
function greatest(logits: Float32Array, count: number): number[] {
  if (count === 0) return [];
  const best: number[] = [];
  for (let id = 0; id < logits.length; id++) {
    if (best.length === count && logits[id]! <= logits[best.at(-1)!]!) continue;
    const at = best.findIndex((other) => logits[other]! < logits[id]!);
    best.splice(at < 0 ? best.length : at, 0, id);
    if (best.length > count) best.pop();
  }
  return best;
}
