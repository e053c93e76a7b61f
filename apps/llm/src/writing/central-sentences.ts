/** What a sentence's likeness to those already chosen costs, beside what its likeness to all of them gives. */
const redundancyCost = 0.7;
/** What the first sentence of a text is worth beside its centrality: texts say first what they are about. */
const leadBonus = 0.05;

/**
 * Positions of sentences in the order in which a summary would take them: those most alike to all others first, each
 * next one as little as possible a repetition (centrality as in LexRank, Erkan and Radev 2004; redundancy as in maximal
 * marginal relevance, Carbonell and Goldstein 1998). `vectors`: one unit vector for each sentence.
 */
export function rankByCentrality(vectors: readonly Float32Array[]): number[] {
  const sum = sumOf(vectors);
  const others = Math.max(1, vectors.length - 1);
  // The mean likeness to the others is the likeness to their sum.
  const centrality = vectors.map(
    (vector, index) => (dot(vector, sum) - 1) / others + leadBonus * (1 - index / vectors.length),
  );
  const left = new Set(vectors.keys());
  const nearest = vectors.map(() => 0);
  const ranked: number[] = [];
  while (left.size > 0) {
    const value = (index: number) => (centrality[index] ?? 0) - redundancyCost * (nearest[index] ?? 0);
    const best = [...left].reduce((a, b) => (value(b) > value(a) ? b : a));
    left.delete(best);
    ranked.push(best);
    for (const index of left) {
      nearest[index] = Math.max(nearest[index] ?? 0, dot(vectors[index], vectors[best]));
    }
  }
  return ranked;
}

function sumOf(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(vectors[0]?.length ?? 0);
  for (const vector of vectors) vector.forEach((value, index) => (sum[index] = (sum[index] ?? 0) + value));
  return sum;
}

function dot(a: Float32Array | undefined, b: Float32Array | undefined): number {
  let sum = 0;
  for (let index = 0; index < (a?.length ?? 0); index++) sum += (a?.[index] ?? 0) * (b?.[index] ?? 0);
  return sum;
}
