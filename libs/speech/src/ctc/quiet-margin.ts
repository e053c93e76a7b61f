import type { SampleSpan } from '../vad/speech-spans.js';

/** Of the loudness of the speech: the noise of a quiet room, 46 dB below it. */
const quiet = 0.005;

/** Speech as a network hears it. */
export interface SpeechStretch {
  samples: Float32Array;
  /** Where its first sample lies in the recording; before its start where quiet was put in front. */
  start: number;
}

/**
 * A stretch of a recording, with quiet where the recording begins or ends with it: networks learn speech in rooms, and
 * take the first sound of a recording that was cut at it for the middle of a word.
 * @param margin Samples of quiet; 0 leaves the stretch as it is.
 */
export function withQuietMargin(
  recording: Float32Array,
  { start, end }: SampleSpan,
  margin: number,
): SpeechStretch {
  const speech = recording.subarray(start, end);
  const before = start === 0 ? margin : 0;
  const behind = end === recording.length ? margin : 0;
  if (before + behind === 0 || speech.length === 0) return { samples: speech, start };
  const level = quiet * Math.sqrt(speech.reduce((sum, value) => sum + value * value, 0) / speech.length);
  const noise = whiteNoise(level);
  const samples = Float32Array.from({ length: before + speech.length + behind }, noise);
  samples.set(speech, before);
  return { samples, start: start - before };
}

/** Uniform noise of the given deviation, the same each time: what is heard must not depend on chance. */
function whiteNoise(deviation: number): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 2 ** 31 - 1) * deviation * Math.sqrt(3);
  };
}
