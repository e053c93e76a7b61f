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

/** Input of {@link WhisperBackend.decode}. */
export interface DecodeStep {
  /** Slot of the first sequence. */
  readonly first: number;
  /** Cached positions of each sequence. */
  readonly pasts: readonly number[];
  /** New tokens of each sequence, the same number for each. */
  readonly tokens: readonly (readonly number[])[];
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
  /** Runs new tokens of consecutive sequences after their cached positions. */
  decode(step: DecodeStep): Promise<DecoderRows>;
  close(): Promise<void>;
}
