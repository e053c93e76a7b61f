import type { ModelInfo } from '#contracts';
import type { EncodeOptions } from './encoder-pool.js';
import { loadEncoder, type EncoderHandle, type EncoderLoadOptions } from './load-encoder.js';

/** Options of {@link Embedder.embed}. */
export interface EmbedOptions extends EncodeOptions {
  /** Truncate inputs that are too long instead of refusing them. */
  readonly truncate?: boolean;
}

/** Result of an embedding call. */
export interface Embeddings {
  /** One unit vector per input, in order. */
  readonly vectors: Float32Array[];
  /** Tokens of all inputs, including special tokens. */
  readonly promptTokens: number;
}

/** Embeds texts, or token ids, as unit vectors. */
export interface Embedder extends EncoderHandle {
  readonly info: ModelInfo & { readonly dimensions: number };
  /**
   * Embeds inputs. Errors: context_length_exceeded and invalid_request with param `input.<n>`, overloaded,
   * cancelled.
   */
  embed(
    inputs: readonly string[] | readonly (readonly number[])[],
    options?: EmbedOptions,
  ): Promise<Embeddings>;
}

/**
 * Loads a sentence embedding model: a bundled name, a folder, or an id on the Hugging Face hub. Errors:
 * ModelLoadError.
 */
export async function loadEmbedder(source: string, options: EncoderLoadOptions = {}): Promise<Embedder> {
  const encoder = await loadEncoder('embed', source, options);
  return {
    ...encoder.handle,
    info: { ...encoder.info, dimensions: encoder.ready.width },
    embed: async (inputs, { truncate = false, ...options } = {}) => {
      const items = inputs.map((input) =>
        typeof input === 'string' ? { text: input, truncate } : { ids: input, truncate },
      );
      const { rows, promptTokens } = await encoder.encode(items, 'input', options);
      return { vectors: rows, promptTokens };
    },
  };
}
