import type { ModelInfo, TranscriptSegment } from '#contracts';

/** A request to transcribe or translate an audio file. */
export interface TranscribeRequest {
  /** The content of the file. */
  readonly audio: Uint8Array;
  /** File name for error messages. */
  readonly filename?: string;
  readonly task?: 'transcribe' | 'translate';
  /** ISO 639-1, e.g. `en`; default: the model's language, or the one it detects. */
  readonly language?: string;
  /** Preceding text, or names and spellings; only some models use it. */
  readonly prompt?: string;
  readonly temperature?: number;
  /** Include word times and log probabilities. */
  readonly details?: boolean;
}

/** Events of a transcription: first the decoded audio, then each segment with text. */
export type TranscriptEvent =
  | {
      readonly kind: 'audio';
      readonly seconds: number;
      readonly language: string;
      /** Request fields that this model ignores. */
      readonly ignored: readonly string[];
    }
  /** `done`: seconds of audio that are finished. */
  | { readonly kind: 'segment'; readonly segment: TranscriptSegment; readonly done: number };

/** A speech recognition model. */
export interface Transcriber {
  readonly info: ModelInfo;
  readonly fallback?: string;
  /**
   * Streams the transcript, segment by segment. Aborting the signal or ending the iteration stops the work at the
   * next segment. Errors: unsupported_file, payload_too_large, unsupported_parameter (a language or task that the
   * model does not support), overloaded, cancelled, service_unavailable.
   */
  transcribe(request: TranscribeRequest, signal?: AbortSignal): AsyncGenerator<TranscriptEvent, void, void>;
  /** Checks the model with a short run. Errors: service_unavailable. */
  check(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
