import { setImmediate as nextTurn } from 'node:timers/promises';

/** Weight of a sentence's similarity to the chosen sentences, relative to its similarity to all sentences. */
const redundancyCost = 0.7;
/** Bonus for the first sentence of a text, which often names the subject. */
const leadBonus = 0.05;

/** A choice of sentences. */
interface Choice {
  /** Maximum number of sentences. */
  readonly count: number;
  /** Whether a sentence may follow the chosen ones; all may by default. */
  readonly mayFollow?: (index: number, chosen: readonly number[]) => boolean;
}

/**
 * Positions of the most valuable sentences for a summary, the best first: those that are most similar to all others,
 * with as little repetition as possible (centrality as in LexRank, Erkan and Radev 2004; redundancy as in maximal
 * marginal relevance, Carbonell and Goldstein 1998). `vectors`: one unit vector for each sentence. The work for each
 * chosen sentence grows with the number of sentences; the event loop turns before each. Errors: the reason of the
 * signal.
 */
export async function chooseCentral(
  vectors: readonly Float32Array[],
  { count, mayFollow = () => true }: Choice,
  signal: AbortSignal,
): Promise<number[]> {
  const values = await centralityOf(vectors, signal);
  const nearest = new Float64Array(vectors.length);
  const chosen: number[] = [];
  while (chosen.length < Math.min(count, vectors.length)) {
    await nextTurn();
    signal.throwIfAborted();
    let best = -1;
    let highest = -Infinity;
    for (const index of vectors.keys()) {
      const value = values[index]! - redundancyCost * nearest[index]!;
      if (value <= highest || chosen.includes(index) || !mayFollow(index, chosen)) continue;
      [best, highest] = [index, value];
    }
    if (best < 0) break;
    chosen.push(best);
    const last = vectors[best]!;
    for (const [index, vector] of vectors.entries())
      nearest[index] = Math.max(nearest[index]!, dot(vector, last));
  }
  return chosen;
}

/** The mean similarity of each sentence to the others, which is its similarity to their sum, divided by their number. */
async function centralityOf(vectors: readonly Float32Array[], signal: AbortSignal): Promise<number[]> {
  const others = Math.max(1, vectors.length - 1);
  const sum = new Float32Array(vectors[0]?.length ?? 0);
  for (const vector of vectors)
    for (let index = 0; index < sum.length; index += 1) sum[index]! += vector[index]!;
  await nextTurn();
  signal.throwIfAborted();
  return vectors.map(
    (vector, index) => (dot(vector, sum) - 1) / others + leadBonus * (1 - index / vectors.length),
  );
}

/** The similarity of two unit vectors of the same width. */
export function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < one.length; index += 1) sum += one[index]! * other[index]!;
  return sum;
}
