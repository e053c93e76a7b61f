/** A candidate with its vector. */
export interface VectorCandidate {
  embedding: Float32Array;
  /** Cosine similarity to the query. */
  score: number;
}

/**
 * Maximal marginal relevance: selects up to k candidates one by one, each with the highest `lambda · similarity to
 * the query − (1 − lambda) · maximum similarity to the selected ones`.
 */
export function selectDiverse<Candidate extends VectorCandidate>(
  candidates: readonly Candidate[],
  k: number,
  lambda: number,
): Candidate[] {
  const rest = candidates.map((candidate) => ({ candidate, closest: 0 }));
  const picked: Candidate[] = [];
  while (picked.length < k && rest.length > 0) {
    const gains = rest.map(({ candidate, closest }) => lambda * candidate.score - (1 - lambda) * closest);
    const [best] = rest.splice(gains.indexOf(Math.max(...gains)), 1);
    if (!best) break;
    picked.push(best.candidate);
    for (const other of rest) {
      const similarity = cosineSimilarity(other.candidate.embedding, best.candidate.embedding);
      other.closest = picked.length === 1 ? similarity : Math.max(other.closest, similarity);
    }
  }
  return picked;
}

/** Returns the cosine similarity of two vectors of the same size. */
export function cosineSimilarity(left: Float32Array, right: Float32Array): number {
  let [product, leftSquares, rightSquares] = [0, 0, 0];
  for (let index = 0; index < left.length; index += 1) {
    const [a, b] = [left[index] ?? 0, right[index] ?? 0];
    product += a * b;
    leftSquares += a * a;
    rightSquares += b * b;
  }
  return product / Math.sqrt(leftSquares * rightSquares);
}
