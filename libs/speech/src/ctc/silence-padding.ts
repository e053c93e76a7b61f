import type { SampleSpan } from '../vad/voice-detectors.js';

/** Level of the padding relative to the speech: the noise of a quiet room, 46 dB lower. */
const noiseLevel = 0.005;

/** A span of speech with its padding. */
export interface PaddedSpeech {
  samples: Float32Array;
  /** Index of its first sample in the recording; negative if the padding begins before the recording. */
  start: number;
}

/**
 * Returns a span of a recording, padded with quiet noise where the recording begins or ends with it. Models are
 * trained on speech in rooms, and take the first sound of a cut recording for the middle of a word.
 * @param margin Samples of padding; 0 returns the span unchanged.
 */
export function padWithSilence(
  recording: Float32Array,
  { start, end }: SampleSpan,
  margin: number,
): PaddedSpeech {
  const speech = recording.subarray(start, end);
  const before = start === 0 ? margin : 0;
  const behind = end === recording.length ? margin : 0;
  if (before + behind === 0 || speech.length === 0) return { samples: speech, start };
  const level = noiseLevel * Math.sqrt(speech.reduce((sum, value) => sum + value * value, 0) / speech.length);
  const noise = whiteNoise(level);
  const samples = Float32Array.from({ length: before + speech.length + behind }, noise);
  samples.set(speech, before);
  return { samples, start: start - before };
}

/** Uniform noise of the given deviation, the same in every call, so that transcripts are reproducible. */
function whiteNoise(deviation: number): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 2 ** 31 - 1) * deviation * Math.sqrt(3);
  };
}
