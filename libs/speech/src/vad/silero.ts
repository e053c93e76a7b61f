import { Tensor } from 'onnxruntime-node';
import { MegaNestError } from '#contracts';
import { createSession, type LoadedSession, ModelLoadError } from '#models';
import { spansFromFrames, type SampleSpan } from './speech-spans.js';
import { detectorRate, type VoiceDetector } from './voice-detector.js';

/** Samples of a step, and those of the step before that stand in front of it. */
const frame = 512;
const context = 64;
const stateShape = [2, 1, 128];
/** Speech begins above the first and ends below the second probability, as in the model's own examples. */
const begins = 0.5;
const ends = 0.35;
const stepsPerTurn = 256;

/** Silero's voice activity detector, 16 kHz (`silero_vad.onnx`, version 5): a small recurrent network. */
export class SileroDetector implements VoiceDetector {
  private constructor(private readonly session: LoadedSession['session']) {}

  /** Throws ModelLoadError for a file that is none, or another model. */
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
      frame,
      length: samples.length,
      leastPause: 0.3 * detectorRate,
      leastSpeech: 0.1 * detectorRate,
      margin: 0.15 * detectorRate,
    });
  }

  close(): Promise<void> {
    return this.session.release();
  }

  async *#probabilities(samples: Float32Array, signal?: AbortSignal): AsyncGenerator<number, void, void> {
    const sr = new Tensor('int64', BigInt64Array.of(BigInt(detectorRate)), []);
    let state = new Tensor('float32', new Float32Array(256), stateShape);
    for (let start = 0, step = 0; start < samples.length; start += frame, step += 1) {
      if (step % stepsPerTurn === 0) await new Promise((resolve) => setImmediate(resolve));
      if (signal?.aborted) throw new MegaNestError('cancelled');
      const window = new Float32Array(context + frame);
      const from = Math.max(0, start - context);
      window.set(samples.subarray(from, start + frame), context - (start - from));
      const input = new Tensor('float32', window, [1, window.length]);
      const { output, stateN } = await this.session.run({ input, state, sr });
      state = new Tensor('float32', stateN!.data as Float32Array, stateShape);
      yield (output!.data as Float32Array)[0]!;
    }
  }
}
