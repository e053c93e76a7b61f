import { spansFromFrames, type SampleSpan } from './speech-spans.js';
import { detectorRate, type VoiceDetector } from './voice-detector.js';

const frame = 0.02 * detectorRate;
/** Decibels below full scale under which nothing is speech. */
const silence = -60;
/** Decibels: speech stands above the quiet of the recording, and not far below its loudest parts. */
const aboveFloor = 9;
const belowPeak = 38;

/**
 * Speech is what is loud: frames of 20 ms above the recording's own quiet (its 10th percentile) and not far below its
 * loudest (95th percentile). It does not tell speech from music or noise.
 */
export class EnergyGate implements VoiceDetector {
  detect(samples: Float32Array): Promise<SampleSpan[]> {
    const levels = frameLevels(samples);
    const sorted = levels.toSorted((a, b) => a - b);
    const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? -Infinity;
    const [floor, peak] = [at(0.1), at(0.95)];
    // A recording without pauses has no quiet to stand above: then only the distance from its peak counts.
    const threshold = Math.max(silence, Math.min(floor + aboveFloor, peak - 12), peak - belowPeak);
    return Promise.resolve(
      spansFromFrames(
        levels.map((level) => level > threshold),
        {
          frame,
          length: samples.length,
          leastPause: 0.4 * detectorRate,
          leastSpeech: 0.06 * detectorRate,
          margin: 0.2 * detectorRate,
        },
      ),
    );
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Decibels of each frame's power; the last one may be shorter. */
function frameLevels(samples: Float32Array): number[] {
  return Array.from({ length: Math.ceil(samples.length / frame) }, (_, index) => {
    const part = samples.subarray(index * frame, (index + 1) * frame);
    const power = part.reduce((sum, sample) => sum + sample * sample, 0) / part.length;
    return 10 * Math.log10(power + 1e-12);
  });
}
