import type { EncodedSequence, EngineChoice, EngineSettings, Device } from '#models';
import { MegaNestError, type ModelInfo } from '#contracts';
import type { Pooling, ScoreFunction } from './pooling.js';

/** The task of an encoder. */
export type EncoderTask = 'embed' | 'rerank' | 'classify';

/** Settings with which an encoder worker loads its model. */
export interface EncoderSettings {
  readonly task: EncoderTask;
  readonly directory: string;
  readonly engine: EngineSettings;
  readonly activations: 'row' | 'tensor';
  readonly device: Device;
  readonly threads: number;
  /** Maximum tokens of an input, including special tokens. */
  readonly maxInputTokens: number;
  /** Token ids are below this. */
  readonly vocabularySize: number;
  readonly padTokenId: number;
  readonly pooling: Pooling;
  /** True if token types say which words of a pair match, as in nano-rerank. */
  readonly marksMatches: boolean;
  /** With `classify`: the function from logits to scores. */
  readonly scores?: ScoreFunction;
}

/** First message of an encoder worker: the engine that was chosen. */
export interface EncoderReady extends EngineChoice {
  readonly backend: string;
  /** Numbers per result: the size of a vector, 1 for a relevance, or the number of labels. */
  readonly width: number;
}

/**
 * One input: a text, token ids, a query with a passage, or tokens with their segments. With `inWindows` a long text
 * is read in windows, and each number of its result is the maximum over them.
 */
export type EncoderItem =
  | { readonly text: string; readonly truncate: boolean }
  | { readonly text: string; readonly inWindows: true }
  | { readonly ids: readonly number[]; readonly truncate: boolean }
  | { readonly query: string; readonly passage: string; readonly truncate: boolean }
  | { readonly sequence: EncodedSequence };

/**
 * Outcome of an item: its number of tokens, or the reason for refusing it. Row i of the result belongs to item i.
 */
export type EncoderOutcome =
  { readonly tokens: number } | { readonly tooLong: number } | { readonly unknownToken: number };

/** Result of a job. */
export interface EncoderResult {
  readonly outcomes: readonly EncoderOutcome[];
  /** `[items, width]`; rows of refused items are zero. */
  readonly rows: Float32Array;
}

/** Throws if the model refused the input. Errors: context_length_exceeded or invalid_request with `param`. */
export function refuseOutcome(
  outcome: EncoderOutcome,
  { id, maxInputTokens }: ModelInfo,
  param: string,
): void {
  if ('tooLong' in outcome)
    throw new MegaNestError('context_length_exceeded', {
      tokens: outcome.tooLong,
      model: id,
      limit: maxInputTokens,
      param,
    });
  if ('unknownToken' in outcome)
    throw new MegaNestError('invalid_request', {
      detail: `${id} has no token ${outcome.unknownToken}.`,
      param,
    });
}
