import type { ModelInfo } from '#contracts';
import type { EncodedRow, EncoderPool } from './encoder-pool.js';
import { loadEncoder, type EncoderLoadOptions } from './load-encoder.js';
import { refuseOutcome } from './encoder-messages.js';

/** Options of {@link Embedder.embed}. */
export interface EmbedOptions {
  /** Truncate inputs that are too long instead of refusing them. */
  readonly truncate?: boolean;
  readonly signal?: AbortSignal;
}

/** Result of an embedding call. */
export interface Embeddings {
  /** One unit vector per input, in order. */
  readonly vectors: Float32Array[];
  /** Tokens of all inputs, including special tokens. */
  readonly promptTokens: number;
}

/** Embeds texts, or token ids, as unit vectors. */
export interface Embedder {
  readonly info: ModelInfo & { readonly dimensions: number };
  /** Reason for running the exported graph; absent if the model was compiled. */
  readonly fallback?: string;
  /**
   * Embeds inputs. Errors: context_length_exceeded and invalid_request with param `input.<n>`, overloaded,
   * cancelled.
   */
  embed(
    inputs: readonly string[] | readonly (readonly number[])[],
    options?: EmbedOptions,
  ): Promise<Embeddings>;
  close(): Promise<void>;
}

/**
 * Loads a sentence embedding model: a bundled name, a folder, or an id on the Hugging Face hub. Errors:
 * ModelLoadError.
 */
export async function loadEmbedder(source: string, options: EncoderLoadOptions = {}): Promise<Embedder> {
  const { info, pool, ready } = await loadEncoder('embed', source, options);
  return new OnnxEmbedder({ ...info, dimensions: ready.width }, pool, ready.fallback);
}

class OnnxEmbedder implements Embedder {
  constructor(
    readonly info: ModelInfo & { readonly dimensions: number },
    private readonly pool: EncoderPool,
    readonly fallback?: string,
  ) {}

  async embed(
    inputs: readonly string[] | readonly (readonly number[])[],
    options: EmbedOptions = {},
  ): Promise<Embeddings> {
    const truncate = options.truncate ?? false;
    const items = inputs.map((input) =>
      typeof input === 'string' ? { text: input, truncate } : { ids: input, truncate },
    );
    const rows = await this.pool.encode(items, options.signal);
    rows.forEach(({ outcome }, index) => refuseOutcome(outcome, this.info, `input[${index}]`));
    return { vectors: rows.map(({ row }) => row), promptTokens: countTokens(rows) };
  }

  close(): Promise<void> {
    return this.pool.close();
  }
}

/** Counts the tokens that the model processed; refused items count 0. */
export function countTokens(rows: readonly EncodedRow[]): number {
  return rows.reduce((total, { outcome }) => total + ('tokens' in outcome ? outcome.tokens : 0), 0);
}
