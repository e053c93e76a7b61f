import type { ModelInfo } from '#contracts';
import type { EncodedRow, EncoderPool } from './encoder-pool.js';
import { loadEncoder, type EncoderLoadOptions } from './load-encoder.js';
import { refuseOutcome } from './refuse-outcome.js';

export interface EmbedOptions {
  /** Cut inputs that are too long instead of refusing them. */
  readonly truncate?: boolean;
  readonly signal?: AbortSignal;
}

export interface Embeddings {
  /** One unit vector per input, in order. */
  readonly vectors: Float32Array[];
  /** Tokens of all inputs, the model's marks included. */
  readonly promptTokens: number;
}

/** Texts, or their token ids, to unit vectors. */
export interface Embedder {
  readonly info: ModelInfo & { readonly dimensions: number };
  /** Why the model runs on its exporter's graph rather than one that we compile; absent where it is compiled. */
  readonly fallback?: string;
  /** Errors: context_length_exceeded and invalid_request with param `input.<n>`, overloaded, cancelled. */
  embed(
    inputs: readonly string[] | readonly (readonly number[])[],
    options?: EmbedOptions,
  ): Promise<Embeddings>;
  close(): Promise<void>;
}

/** Loads a sentence embedder: a bundled name, a folder, or a hub id. Throws ModelLoadError. */
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

/** Tokens that the model saw; refused items count nothing. */
export function countTokens(rows: readonly EncodedRow[]): number {
  return rows.reduce((total, { outcome }) => total + ('tokens' in outcome ? outcome.tokens : 0), 0);
}
