import type { AttributeFilter, MetadataFilter, RetrievedDocument, SearchType } from '#platform/contracts';

/** How `hybrid` fuses its two rankings; the best method depends on the embedding model (docs/benchmarks.md). */
export interface FusionSettings {
  /** `rrf`: by reciprocal rank. `scores`: BM25 plus weighted cosine similarity. */
  method: 'rrf' | 'scores';
  /** Weight of the vector search relative to the full text search. */
  similarityWeight: number;
  /** For `rrf`: reduces the lead of the first ranks. */
  rankConstant: number;
}

/** A search of one collection with all parameters set. */
export interface ChunkSearch {
  searchType: SearchType;
  /** Required by `lexical` and `hybrid`. */
  query: string;
  /** Required by all methods except `lexical`. */
  embedding?: Float32Array;
  /** The model of the embedding. A collection with vectors of another model is searched by words. */
  embeddingModel?: string;
  collection: string;
  /** Owner of the vector store; only the owner finds chunks that have an owner. */
  owner?: string;
  /** Passages to return. */
  k: number;
  /** Candidates of `mmr`, and of each of the two searches of `hybrid`; at least k. */
  fetchK: number;
  /** Minimum cosine similarity; for `similarity_score_threshold`. */
  scoreThreshold: number;
  /** Maximum cosine distance; required by `similarity_distance_threshold`. */
  distanceThreshold?: number;
  /** For `mmr`: 1 is pure relevance, 0 pure diversity. */
  lambdaMult: number;
  /** For `hybrid`. */
  fusion: FusionSettings;
  /** Keep chunks whose metadata contain these values; a list means any of them. */
  filter?: MetadataFilter;
  /** Keep chunks of documents whose metadata match. */
  attributeFilter?: AttributeFilter;
  /** Ids of documents whose chunks get a bonus; for `hybrid` and `lexical`. */
  preferredDocuments?: readonly string[];
  /** Ids of chunks that follow the found ones, if the search may return them. */
  passages?: readonly string[];
}

/** What a search found, best first, and how it was made. */
export interface SearchResult {
  hits: ChunkHit[];
  searchType: SearchType;
  /** It was made by words, since the collection has vectors of another model. */
  isForeign: boolean;
}

/**
 * A found passage. Its score is the cosine similarity (similarity methods and mmr), BM25 (lexical) or the fused
 * score (hybrid).
 */
export type ChunkHit = RetrievedDocument;
