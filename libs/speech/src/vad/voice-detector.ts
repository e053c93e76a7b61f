import type { SampleSpan } from './speech-spans.js';

/** Finds where somebody speaks. */
export interface VoiceDetector {
  /** Stretches of speech in audio at 16,000 samples a second, in order. */
  detect(samples: Float32Array, signal?: AbortSignal): Promise<SampleSpan[]>;
  close(): Promise<void>;
}

export const detectorRate = 16_000;
