import type { RetrievedDocument, SearchType } from '#contracts';

/** A search of one collection, every parameter decided. */
export interface ChunkSearch {
  searchType: SearchType;
  /** Needed by `lexical` and `hybrid`. */
  query: string;
  /** Needed by all but `lexical`. */
  embedding?: Float32Array;
  collection: string;
  /** Passages to return. */
  k: number;
  /** Candidates of `mmr`, and of each of the two searches of `hybrid`; never fewer than k. */
  fetchK: number;
  /** Least cosine similarity; for `similarity_score_threshold`. */
  scoreThreshold: number;
  /** Greatest cosine distance; `similarity_distance_threshold` needs it. */
  distanceThreshold?: number;
  /** For `mmr`: 1 is pure relevance, 0 pure diversity. */
  lambdaMult: number;
  /** Keep chunks whose metadata contain these values; a list means any of. */
  filter?: Record<string, unknown>;
}

/**
 * A passage found. Its score: cosine similarity (the similarity modes and mmr), BM25 (lexical) or the fused rank
 * (hybrid).
 */
export type ChunkHit = RetrievedDocument;
