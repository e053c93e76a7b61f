import type { PromptImages } from './images/prompt-images.js';

/** The KV cache of one token sequence; the backend decides where it lies. */
export interface DecoderSequence {
  /** Number of tokens in the cache. */
  readonly length: number;
  /** Returns a second sequence with the same tokens. Later tokens are appended to one of them only. */
  fork(): DecoderSequence;
  /** Removes the tokens from position `length` on. Called only if `maxDrafts` is above 0. */
  truncate?(length: number): void;
  /** Frees the cache. A second call does nothing. */
  release(): void;
}

/** The tokens that one pass appends to one sequence. */
export interface ForwardItem<Sequence extends DecoderSequence = DecoderSequence> {
  readonly sequence: Sequence;
  /** Tokens to append, at least one. */
  readonly tokens: readonly number[];
  /** Number of the last tokens for which logits are returned. */
  readonly logits: number;
}

/** Memory that a backend uses at the moment, in bytes. */
export interface HeldBytes {
  /** Caches of the open sequences. */
  readonly sequences: number;
  /** Cached prefixes of earlier prompts. */
  readonly prefixes: number;
}

/**
 * One decoder model on one device. It appends tokens to sequences and returns the logits of the next tokens. A pass is one
 * call of `prefill` or `decode`; it begins after the one before has ended. Logits are valid until the next pass, which may
 * overwrite or free them (then their length is 0); the caller may change them.
 */
export interface DecoderBackend<Sequence extends DecoderSequence = DecoderSequence> {
  /** Name of the execution provider, e.g. `onnx-cpu`. */
  readonly name: string;
  readonly vocabularySize: number;
  /** Maximum number of items in one decoding pass. */
  readonly maxBatch: number;
  /** Number of prompt tokens in one prefill chunk; small enough for the other requests to wait for it. */
  readonly prefillChunk: number;
  /** Maximum number of draft tokens in one pass; 0 if sequences cannot be truncated. */
  readonly maxDrafts: number;
  /**
   * Maximum difference between the logits of a pass over several tokens and of passes over one token. If the two
   * most likely tokens are closer than this, only a pass over one token decides.
   */
  readonly draftMargin: number;
  /** Embeddings of tokens can be replaced by parts of images. */
  readonly takesImages: boolean;
  readonly heldBytes: HeldBytes;
  /** False if a sequence of `tokens` tokens would exceed the memory for KV caches. */
  hasRoomFor(tokens: number): boolean;
  /**
   * Opens a sequence for a prompt. If an earlier prompt had the same prefix, the sequence already holds it (see
   * `length`), but never the whole prompt.
   */
  openSequence(prompt: readonly number[], options?: SequenceOptions): Sequence;
  /** Appends the next chunk of a prompt. Returns the requested logits, `[item.logits, vocabularySize]`. */
  prefill(item: ForwardItem<Sequence>): Promise<Float32Array>;
  /**
   * Appends to several sequences after their prefill. Returns per item the requested logits, `[item.logits,
   * vocabularySize]`.
   */
  decode(items: readonly ForwardItem<Sequence>[]): Promise<Float32Array[]>;
  dispose(): Promise<void>;
}

/** Options of a new sequence. */
export interface SequenceOptions {
  /** Decoding may append several tokens in one pass, and may truncate. */
  readonly speculative?: boolean;
  /** Its logits do not depend on other sequences, up to the last bit, if each pass appends one token of it. */
  readonly repeatable?: boolean;
  /** The images of its prompt. Only for a backend that {@link DecoderBackend.takesImages}. */
  readonly images?: PromptImages;
}
