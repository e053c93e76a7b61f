import type { ModelInfo } from '#platform/contracts';
import type { EncodeOptions } from './encoder-pool.js';
import { readPrefixes, type Prefixes } from './sentence/sentence-settings.js';
import { loadEncoder, type EncoderHandle, type EncoderLoadOptions } from './load-encoder.js';

/** Options of {@link Embedder.embed}. */
export interface EmbedOptions extends EncodeOptions {
  /** Truncate inputs that are too long instead of refusing them. */
  readonly truncate?: boolean;
  /** What the texts are; models with prefixes embed a query in another way than a document. */
  readonly inputType?: 'query' | 'document';
}

/** Options of {@link loadEmbedder}. */
export interface EmbedderLoadOptions extends EncoderLoadOptions {
  /** Override the prefixes in the model's files. */
  readonly prefixes?: Partial<Prefixes>;
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
export async function loadEmbedder(source: string, options: EmbedderLoadOptions = {}): Promise<Embedder> {
  const encoder = await loadEncoder('embed', source, options);
  const stored = await readPrefixes(encoder.modules);
  const prefixes = { ...stored, ...options.prefixes };
  return {
    ...encoder.handle,
    info: { ...encoder.info, dimensions: encoder.ready.width, ...describePrefixes(prefixes) },
    embed: async (inputs, { truncate = false, inputType, ...options } = {}) => {
      const items = withPrefix(inputs, prefixes[inputType ?? 'other']).map((input) =>
        typeof input === 'string' ? { text: input, truncate } : { ids: input, truncate },
      );
      const { rows, promptTokens } = await encoder.encode(items, 'input', options);
      return { vectors: rows, promptTokens };
    },
  };
}

/** Puts a prefix in front of texts; tokens stay as the caller chose them. */
export function withPrefix(
  inputs: readonly string[] | readonly (readonly number[])[],
  prefix: string,
): readonly string[] | readonly (readonly number[])[] {
  const isText = (list: typeof inputs): list is readonly string[] => typeof list[0] === 'string';
  return prefix !== '' && isText(inputs) ? inputs.map((text) => prefix + text) : inputs;
}

/** The prefixes as a part of a model's properties; nothing if there are none. */
export function describePrefixes({ query, document }: Omit<Prefixes, 'other'>): Pick<ModelInfo, 'prefixes'> {
  return query || document ? { prefixes: { query, document } } : {};
}
