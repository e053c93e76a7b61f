import type { ModelInfo } from '#contracts';
import { countTokens } from './embedder.js';
import type { EncoderPool } from './encoder-pool.js';
import { loadEncoder, type EncoderLoadOptions } from './load-encoder.js';
import { refuseOutcome } from './refuse-outcome.js';

export interface RerankScores {
  /** Relevance of each passage, 0–1, in the order of the passages: the sigmoid of the model's logit. */
  readonly scores: number[];
  /** Tokens of all pairs, the model's marks included. */
  readonly promptTokens: number;
}

export interface RerankOptions {
  /**
   * Cut passages (and, beyond half of the room, queries) that are too long instead of refusing them; true where it is
   * absent, since the beginning of a passage mostly tells what it is about.
   */
  readonly truncate?: boolean;
  readonly signal?: AbortSignal;
}

/** Scores how well passages answer a query. */
export interface Reranker {
  readonly info: ModelInfo;
  /** Why the model runs on its exporter's graph rather than one that we compile; absent where it is compiled. */
  readonly fallback?: string;
  /** Errors: context_length_exceeded with param `texts.<n>`, overloaded, cancelled. */
  rerank(query: string, texts: readonly string[], options?: RerankOptions): Promise<RerankScores>;
  close(): Promise<void>;
}

/** Loads a cross-encoder: a bundled name, a folder, or a hub id. Throws ModelLoadError. */
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

/** One logit: its sigmoid. Two: the probability of the second class, which is "relevant" by convention. */
function relevance(logits: Float32Array): number {
  const logit = logits.length === 1 ? logits[0]! : logits.at(-1)! - logits[0]!;
  return 1 / (1 + Math.exp(-logit));
}
