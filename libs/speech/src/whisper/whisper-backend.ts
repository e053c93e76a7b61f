import type { EngineChoice } from '#models';

/** What a run of the decoder tells of the rows that were asked for. */
export interface DecoderRows {
  /** Logarithms of probabilities, one array a row; the caller's to change. */
  readonly scores: readonly Float32Array[];
  /** Where each new token of each sequence looks: `[sequence][token]`, heads × source positions; with alignment heads. */
  readonly alignment?: readonly (readonly Float32Array[])[];
}

export interface DecodeOptions {
  /** Rows, `sequence × tokens + token`, whose scores are given. */
  readonly wanted: readonly number[];
  /** Remember the tokens' keys and values; default true. */
  readonly keep?: boolean;
}

/** The two networks of a Whisper model and the memory of the sequences that are decoded, in slots from 0 on. */
export interface WhisperBackend {
  readonly model: { readonly sourcePositions: number; readonly targetPositions: number };
  /** What runs it, for people. */
  readonly backend: string;
  readonly choice: EngineChoice;
  /** Whether it tells where tokens look. */
  readonly tellsAlignment: boolean;
  /** Makes room for so many sequences of so many positions. */
  reserve(slots: number, positions: number): void;
  /** Copies a sequence of so many positions to another slot. */
  move(from: number, to: number, positions: number): void;
  /** Hears one window, `[bands, 2 · sourcePositions]`, and puts it into a slot. */
  encode(features: Float32Array, slot: number): Promise<void>;
  /** New tokens of the sequences from slot `first` on, equally many of each, behind so many past ones. */
  decode(
    first: number,
    pasts: readonly number[],
    tokens: readonly (readonly number[])[],
    options: DecodeOptions,
  ): Promise<DecoderRows>;
  close(): Promise<void>;
}
