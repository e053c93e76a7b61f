import type { EngineChoice } from '#models';

/** Results of a decoder run for the requested rows. */
export interface DecoderRows {
  /** Log probabilities, one array per row; the caller may modify them. */
  readonly scores: readonly Float32Array[];
  /**
   * Cross-attention of each new token of each sequence: `[sequence][token]`, heads × source positions; only with
   * alignment heads.
   */
  readonly alignment?: readonly (readonly Float32Array[])[];
}

/** Options of {@link WhisperBackend.decode}. */
export interface DecodeOptions {
  /** Rows, `sequence × tokens + token`, whose scores are returned. */
  readonly wanted: readonly number[];
  /** Append the tokens to the KV cache; default true. */
  readonly keep?: boolean;
}

/** The encoder and the decoder of a Whisper model, and the KV caches of the sequences in slots from 0 on. */
export interface WhisperBackend {
  readonly model: { readonly sourcePositions: number; readonly targetPositions: number };
  /** Name of the engine. */
  readonly backend: string;
  readonly choice: EngineChoice;
  /** True if it returns alignments. */
  readonly hasAlignment: boolean;
  /** Reserves memory for `slots` sequences of `positions` positions. */
  reserve(slots: number, positions: number): void;
  /** Copies a sequence of `positions` positions to another slot. */
  move(from: number, to: number, positions: number): void;
  /** Encodes one window, `[bands, 2 · sourcePositions]`, into a slot. */
  encode(features: Float32Array, slot: number): Promise<void>;
  /**
   * Runs new tokens of the sequences from slot `first` on, the same number for each, after `pasts` cached
   * positions.
   */
  decode(
    first: number,
    pasts: readonly number[],
    tokens: readonly (readonly number[])[],
    options: DecodeOptions,
  ): Promise<DecoderRows>;
  close(): Promise<void>;
}
