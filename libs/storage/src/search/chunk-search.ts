import type { AttributeFilter, MetadataFilter, RetrievedDocument, SearchType } from '#contracts';

/** How `hybrid` makes one ranking of its two; what is best depends on the embedding model (docs/benchmarks.md). */
export interface FusionSettings {
  /** `rrf`: by reciprocal rank. `scores`: BM25 plus weighted cosine similarity. */
  method: 'rrf' | 'scores';
  /** Weight of the vector search against the word search's 1. */
  similarityWeight: number;
  /** For `rrf`: dampens the lead of the first ranks. */
  rankConstant: number;
}

/** A search of one collection, every parameter decided. */
export interface ChunkSearch {
  searchType: SearchType;
  /** Needed by `lexical` and `hybrid`. */
  query: string;
  /** Needed by all but `lexical`. */
  embedding?: Float32Array;
  collection: string;
  /** Whose vector store the collection is; chunks that have an owner are found for that owner alone. */
  owner?: string;
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
  /** For `hybrid`. */
  fusion: FusionSettings;
  /** Keep chunks whose metadata contain these values; a list means any of. */
  filter?: MetadataFilter;
  /** Keep chunks of documents whose metadata pass. */
  attributeFilter?: AttributeFilter;
}

/**
 * A passage found. Its score: cosine similarity (the similarity modes and mmr), BM25 (lexical) or the fused
 * score (hybrid).
 */
export type ChunkHit = RetrievedDocument;
