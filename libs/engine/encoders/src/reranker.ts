import { ModelLoadError } from '#engine/models';
import { readPrefixes } from './sentence/sentence-settings.js';
import { loadEncoder, type EncoderHandle, type EncoderLoadOptions } from './load-encoder.js';

/** Result of {@link Reranker.rerank}. */
export interface RerankScores {
  /** Relevance of each passage, 0–1, in the order of the passages: the sigmoid of the model's logit. */
  readonly scores: number[];
  /** Tokens of all pairs, including special tokens. */
  readonly promptTokens: number;
}

/** Options of {@link Reranker.rerank}. */
export interface RerankOptions {
  /**
   * Truncate passages that are too long instead of refusing them, and queries beyond half of the limit. Default
   * true, because the beginning of a passage usually shows its subject.
   */
  readonly truncate?: boolean;
  readonly signal?: AbortSignal;
}

/** Scores how well passages answer a query. */
export interface Reranker extends EncoderHandle {
  /** Scores passages. Errors: context_length_exceeded with param `texts.<n>`, overloaded, cancelled. */
  rerank(query: string, texts: readonly string[], options?: RerankOptions): Promise<RerankScores>;
}

/** Loads a cross-encoder: a bundled name, a folder, or an id on the Hugging Face hub. Errors: ModelLoadError. */
export async function loadReranker(source: string, options: EncoderLoadOptions = {}): Promise<Reranker> {
  const encoder = await loadEncoder('rerank', source, options);
  if ((await readPrefixes(encoder.modules)).other) {
    await encoder.handle.close();
    throw new ModelLoadError(
      `${encoder.modules.root}: a default prompt of a cross-encoder is not supported.`,
    );
  }
  return {
    ...encoder.handle,
    rerank: async (query, texts, { truncate = true, signal } = {}) => {
      const items = texts.map((passage) => ({ query, passage, truncate }));
      const { rows, promptTokens } = await encoder.encode(items, 'texts', { signal });
      return { scores: rows.map(relevance), promptTokens };
    },
  };
}

/**
 * The sigmoid of a single logit; of two logits the probability of the second class, which means "relevant" by
 * convention.
 */
function relevance(logits: Float32Array): number {
  const logit = logits.length === 1 ? logits[0]! : logits.at(-1)! - logits[0]!;
  return 1 / (1 + Math.exp(-logit));
}
