import type { RetrievedDocument, SearchType } from '#platform/contracts';

/** The passages of one query, best first, and the weight of the query. */
export interface QueryResult {
  readonly documents: readonly RetrievedDocument[];
  readonly searchType: SearchType;
  readonly weight: number;
}

/** The score of these searches is the cosine similarity, which is comparable between queries. */
const bySimilarity: ReadonlySet<SearchType> = new Set([
  'similarity',
  'similarity_distance_threshold',
  'similarity_score_threshold',
  'mmr',
]);

/**
 * Fuses the results of several queries into one list of passages, best first, each of them once. The list is as long as
 * the longest result. A passage keeps its greatest score. The score of a word search depends on the words of its query,
 * so it is a share of the best score of its query, multiplied by the weight of the query, in the scale of the first
 * result. A cosine similarity stays as it is. Sums of scores and of reciprocal ranks find less: they favor a passage
 * that all queries find somewhere.
 */
export function fuseResults(results: readonly QueryResult[]): RetrievedDocument[] {
  const filled = results.filter(({ documents }) => documents.length > 0);
  const [first] = filled;
  if (!first || filled.length === 1) return [...(first?.documents ?? [])];
  const areSimilarities = filled.every(({ searchType }) => bySimilarity.has(searchType));
  const scale = bestScore(first.documents);
  const fused = new Map<string, RetrievedDocument>();
  for (const { documents, weight } of filled) {
    const best = bestScore(documents);
    const factor = areSimilarities ? 1 : best > 0 ? (weight * scale) / best : 0;
    for (const document of documents) {
      const known = fused.get(document.id);
      const score = Math.max(document.score * factor, known?.score ?? -Infinity);
      const similarity = greatest(known?.similarity, document.similarity);
      fused.set(document.id, { ...document, score, ...(similarity !== undefined && { similarity }) });
    }
  }
  const length = Math.max(...filled.map(({ documents }) => documents.length));
  return [...fused.values()].toSorted((left, right) => right.score - left.score).slice(0, length);
}

function bestScore(documents: readonly RetrievedDocument[]): number {
  return Math.max(...documents.map(({ score }) => score));
}

function greatest(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? (left ?? right) : Math.max(left, right);
}
