import type { ModelInfo } from '#contracts';
import { countTokens } from './embedder.js';
import type { EncoderPool } from './encoder-pool.js';
import { loadEncoder, type EncoderLoadOptions } from './load-encoder.js';
import { refuseOutcome } from './encoder-messages.js';

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
export interface Reranker {
  readonly info: ModelInfo;
  /** Reason for running the exported graph; absent if the model was compiled. */
  readonly fallback?: string;
  /** Scores passages. Errors: context_length_exceeded with param `texts.<n>`, overloaded, cancelled. */
  rerank(query: string, texts: readonly string[], options?: RerankOptions): Promise<RerankScores>;
  close(): Promise<void>;
}

/** Loads a cross-encoder: a bundled name, a folder, or an id on the Hugging Face hub. Errors: ModelLoadError. */
export async function loadReranker(source: string, options: EncoderLoadOptions = {}): Promise<Reranker> {
  const { info, pool, ready } = await loadEncoder('rerank', source, options);
  return new OnnxReranker(info, pool, ready.fallback);
}

class OnnxReranker implements Reranker {
  constructor(
    readonly info: ModelInfo,
    private readonly pool: EncoderPool,
    readonly fallback?: string,
  ) {}

  async rerank(
    query: string,
    texts: readonly string[],
    { truncate = true, signal }: RerankOptions = {},
  ): Promise<RerankScores> {
    const items = texts.map((passage) => ({ query, passage, truncate }));
    const rows = await this.pool.encode(items, signal);
    rows.forEach(({ outcome }, index) => refuseOutcome(outcome, this.info, `texts[${index}]`));
    return { scores: rows.map(({ row }) => relevance(row)), promptTokens: countTokens(rows) };
  }

  close(): Promise<void> {
    return this.pool.close();
  }
}

/**
 * The sigmoid of a single logit; of two logits the probability of the second class, which means "relevant" by
 * convention.
 */
function relevance(logits: Float32Array): number {
  const logit = logits.length === 1 ? logits[0]! : logits.at(-1)! - logits[0]!;
  return 1 / (1 + Math.exp(-logit));
}
