import { Tensor } from 'onnxruntime-node';
import { MegaNestError } from '#platform/contracts';
import { createSession, type LoadedSession, ModelLoadError } from '#engine/models';

/** A span of audio in samples, the end excluded. */
export interface SampleSpan {
  start: number;
  end: number;
}

/** Rules of {@link spansFromFrames}, in samples. */
export interface SpanRules {
  /** Samples per decision. */
  frame: number;
  /** Length of the audio. */
  length: number;
  /** Shorter pauses do not end a span. */
  minPause: number;
  /** Shorter spans are dropped. */
  minSpeech: number;
  /** Added before and after each span. */
  margin: number;
}

/** Returns the spans of speech from one decision per frame; margins do not overlap. */
export function spansFromFrames(isSpeech: readonly boolean[], rules: SpanRules): SampleSpan[] {
  const { frame, length, minPause, minSpeech, margin } = rules;
  const spans: SampleSpan[] = [];
  for (const [index, speech] of isSpeech.entries()) {
    if (!speech) continue;
    const end = Math.min(length, (index + 1) * frame);
    const last = spans.at(-1);
    if (last && index * frame - last.end < minPause) last.end = end;
    else spans.push({ start: index * frame, end });
  }
  const kept = spans.filter(({ start, end }) => end - start >= minSpeech);
  return kept.map(({ start, end }, index) => ({
    start: Math.max(start - margin, middle(kept[index - 1], start) ?? 0),
    end: Math.min(end + margin, middle({ start, end }, kept[index + 1]?.start) ?? length),
  }));
}

function middle(before: SampleSpan | undefined, after: number | undefined): number | undefined {
  return before && after !== undefined ? Math.ceil((before.end + after) / 2) : undefined;
}

/**
 * Joins neighboring spans into spans of at most `maxLength` samples if their pauses are shorter than `pause`
 * samples.
 */
export function joinSpans(spans: readonly SampleSpan[], maxLength: number, pause: number): SampleSpan[] {
  const joined: SampleSpan[] = [];
  for (const { start, end } of spans) {
    const last = joined.at(-1);
    if (last && end - last.start <= maxLength && start - last.end < pause) last.end = end;
    else joined.push({ start, end });
  }
  return joined;
}

/** Voice activity detection. */
export interface VoiceDetector {
  /** Returns the spans of speech in audio at {@link detectorRate}, in order. */
  detect(samples: Float32Array, signal?: AbortSignal): Promise<SampleSpan[]>;
  close(): Promise<void>;
}

/** Sample rate of voice detectors, in Hz. */
export const detectorRate = 16_000;

const frame = 0.02 * detectorRate;
/** Level in dB relative to full scale, below which a frame is not speech. */
const silence = -60;
/** In dB: speech is louder than the noise floor, and not much quieter than the loudest parts. */
const aboveFloor = 9;
const belowPeak = 38;

/**
 * Detects speech by its energy: frames of 20 ms above the recording's noise floor (10th percentile) and not far
 * below its loudest parts (95th percentile). It cannot distinguish speech from music or noise.
 */
export class EnergyGate implements VoiceDetector {
  detect(samples: Float32Array): Promise<SampleSpan[]> {
    const levels = frameLevels(samples);
    const sorted = levels.toSorted((a, b) => a - b);
    const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? -Infinity;
    const [floor, peak] = [at(0.1), at(0.95)];
    // A recording without pauses does not have a noise floor, so only the distance from its peak counts.
    const threshold = Math.max(silence, Math.min(floor + aboveFloor, peak - 12), peak - belowPeak);
    return Promise.resolve(
      spansFromFrames(
        levels.map((level) => level > threshold),
        {
          frame,
          length: samples.length,
          minPause: 0.4 * detectorRate,
          minSpeech: 0.06 * detectorRate,
          margin: 0.2 * detectorRate,
        },
      ),
    );
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Power of each frame in dB; the last frame may be shorter. */
function frameLevels(samples: Float32Array): number[] {
  return Array.from({ length: Math.ceil(samples.length / frame) }, (_, index) => {
    const part = samples.subarray(index * frame, (index + 1) * frame);
    const power = part.reduce((sum, sample) => sum + sample * sample, 0) / part.length;
    return 10 * Math.log10(power + 1e-12);
  });
}

/** Samples per step, and samples of the previous step that precede them. */
const sileroFrame = 512;
const context = 64;
const stateShape = [2, 1, 128];
/** Speech begins above the first probability and ends below the second, as in the model's own examples. */
const begins = 0.5;
const ends = 0.35;
const stepsPerTurn = 256;

/** Silero's voice activity detector, 16 kHz (`silero_vad.onnx`, version 5): a small recurrent network. */
export class SileroDetector implements VoiceDetector {
  private constructor(private readonly session: LoadedSession['session']) {}

  /** Loads the model. Errors: ModelLoadError if the file is not this model. */
  static async load(file: string): Promise<SileroDetector> {
    const { session } = await createSession(file, { device: 'cpu', threads: 1 });
    if (!['input', 'state', 'sr'].every((name) => session.inputNames.includes(name)))
      throw new ModelLoadError(`${file} is not Silero's voice activity detector of version 5.`);
    return new SileroDetector(session);
  }

  async detect(samples: Float32Array, signal?: AbortSignal): Promise<SampleSpan[]> {
    const isSpeech: boolean[] = [];
    for await (const probability of this.#probabilities(samples, signal))
      isSpeech.push(probability >= (isSpeech.at(-1) ? ends : begins));
    return spansFromFrames(isSpeech, {
      frame: sileroFrame,
      length: samples.length,
      minPause: 0.3 * detectorRate,
      minSpeech: 0.1 * detectorRate,
      margin: 0.15 * detectorRate,
    });
  }

  close(): Promise<void> {
    return this.session.release();
  }

  async *#probabilities(samples: Float32Array, signal?: AbortSignal): AsyncGenerator<number, void, void> {
    const sr = new Tensor('int64', BigInt64Array.of(BigInt(detectorRate)), []);
    let state = new Tensor('float32', new Float32Array(256), stateShape);
    for (let start = 0, step = 0; start < samples.length; start += sileroFrame, step += 1) {
      if (step % stepsPerTurn === 0) await new Promise((resolve) => setImmediate(resolve));
      if (signal?.aborted) throw new MegaNestError('cancelled');
      const window = new Float32Array(context + sileroFrame);
      const from = Math.max(0, start - context);
      window.set(samples.subarray(from, start + sileroFrame), context - (start - from));
      const input = new Tensor('float32', window, [1, window.length]);
      const { output, stateN } = await this.session.run({ input, state, sr });
      state = new Tensor('float32', stateN!.data as Float32Array, stateShape);
      yield (output!.data as Float32Array)[0]!;
    }
  }
}

/** Opens Silero's model if its file is given, otherwise energy-based detection. Errors: ModelLoadError. */
export async function openVoiceDetector(file: string | undefined): Promise<VoiceDetector> {
  return file ? SileroDetector.load(file) : new EnergyGate();
}
