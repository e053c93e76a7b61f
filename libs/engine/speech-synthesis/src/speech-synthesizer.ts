import type { ModelInfo, SpeechFormat } from '#platform/contracts';

/** One text to speak. */
export interface SynthesisRequest {
  readonly text: string;
  /** A voice of {@link SpeechSynthesizer.voices} or one of OpenAI's names; otherwise the default voice. */
  readonly voice?: string;
  readonly format: SpeechFormat;
  /** 0.25 to 4; 1 is the normal speed of the voice. */
  readonly speed: number;
  /** Instructions for the way of speaking. Engines without support list the field in `ignored`. */
  readonly instructions?: string;
}

/** First a `voice` event, then pieces of one audio file in the requested format. */
export type SynthesisEvent =
  | {
      readonly kind: 'voice';
      readonly voice: string;
      /** Sample rate in Hz. */
      readonly sampleRate: number;
      /** Fields of the request without an effect. */
      readonly ignored: readonly string[];
    }
  | { readonly kind: 'audio'; readonly bytes: Uint8Array; readonly seconds: number };

/** A model that speaks. */
export interface SpeechSynthesizer {
  readonly info: ModelInfo;
  /** Valid names for a request; empty if a remote engine decides. */
  readonly voices: readonly string[];
  /**
   * Streams the speech sentence by sentence. Aborting the signal or ending the iteration stops the work at the next
   * sentence. Errors: invalid_request (unknown voice, nothing to say), overloaded, cancelled, service_unavailable.
   */
  synthesize(request: SynthesisRequest, signal?: AbortSignal): AsyncGenerator<SynthesisEvent, void, void>;
  /** Errors: service_unavailable if the model cannot work. */
  check(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
