import type { ModelInfo, TranscriptSegment } from '#contracts';

export interface TranscribeRequest {
  /** The whole file. */
  readonly audio: Uint8Array;
  /** For errors. */
  readonly filename?: string;
  readonly task?: 'transcribe' | 'translate';
  /** ISO 639-1, e.g. `en`; otherwise the model's own, or what it hears. */
  readonly language?: string;
  /** Text that came before, or names and spellings; only some models can use it. */
  readonly prompt?: string;
  readonly temperature?: number;
  /** Tell times of words and logarithms of probabilities too. */
  readonly details?: boolean;
}

/** What becomes known, in this order: the audio once it is decoded, then each segment with text. */
export type TranscriptEvent =
  | {
      readonly kind: 'audio';
      readonly seconds: number;
      readonly language: string;
      /** Fields of the request that this model has no use for. */
      readonly ignored: readonly string[];
    }
  /** `done`: seconds of the audio that are behind. */
  | { readonly kind: 'segment'; readonly segment: TranscriptSegment; readonly done: number };

/** A model that writes down what is said. */
export interface Transcriber {
  readonly info: ModelInfo;
  readonly fallback?: string;
  /**
   * Streams the transcript, segment by segment. Aborting the signal, or not consuming on, ends the work at the next
   * segment. Errors: unsupported_file, payload_too_large, unsupported_parameter (a language or a task that the model has
   * not), overloaded, cancelled, service_unavailable.
   */
  transcribe(request: TranscribeRequest, signal?: AbortSignal): AsyncGenerator<TranscriptEvent, void, void>;
  /** Errors: service_unavailable where the model cannot work. */
  check(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
