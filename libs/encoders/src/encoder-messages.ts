import type { EncodedSequence, EngineChoice, EngineSettings, Device } from '#models';
import type { ScoreFunction } from './classification-head.js';
import type { Pooling } from './pooling.js';

export type EncoderTask = 'embed' | 'rerank' | 'classify';

/** What an encoder worker needs to load its model. */
export interface EncoderSettings {
  readonly task: EncoderTask;
  readonly directory: string;
  readonly engine: EngineSettings;
  readonly activations: 'row' | 'tensor';
  readonly device: Device;
  readonly threads: number;
  /** Most tokens of an input, marks included. */
  readonly maxInputTokens: number;
  /** Ids from here on are unknown to the model. */
  readonly vocabularySize: number;
  readonly padTokenId: number;
  readonly pooling: Pooling;
  /** With `classify`: how its logits become scores. */
  readonly scores?: ScoreFunction;
}

export interface EncoderReady extends EngineChoice {
  readonly backend: string;
  /** Numbers per result: the width of a vector, 1 for a relevance, or one for each label. */
  readonly width: number;
}

/**
 * One input: a text, its token ids, a query with a passage, or tokens with their segments as the model reads them. `inWindows`: a text that is too long is read in windows,
 * and each number of its result is the highest over them.
 */
export type EncoderItem =
  | { readonly text: string; readonly truncate: boolean }
  | { readonly text: string; readonly inWindows: true }
  | { readonly ids: readonly number[]; readonly truncate: boolean }
  | { readonly query: string; readonly passage: string; readonly truncate: boolean }
  | { readonly sequence: EncodedSequence };

/** What came of an item: its tokens, or why it was refused. Row i of the result belongs to item i. */
export type EncoderOutcome =
  { readonly tokens: number } | { readonly tooLong: number } | { readonly unknownToken: number };

export interface EncoderResult {
  readonly outcomes: readonly EncoderOutcome[];
  /** `[items, width]`; rows of refused items are zero. */
  readonly rows: Float32Array;
}
