import type { SpeechFormat } from '#contracts';
import type { FliteVoice } from './flite-voices.js';

/** One text for a thread that speaks. */
export interface SynthesizerCall {
  /** Pieces in the letters of the voice, spoken one after the other. */
  readonly pieces: readonly string[];
  readonly voice: FliteVoice;
  readonly speed: number;
  readonly format: SpeechFormat;
}

/** Encoded audio: the bytes of the file that became complete, and the seconds of speech in them. */
export interface SynthesizerEvent {
  readonly bytes: Uint8Array;
  readonly seconds: number;
}
