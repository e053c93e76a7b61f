import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  chooseEngine,
  type EngineChoice,
  type EngineSettings,
  readJson,
  ModelLoadError,
  createSession,
  type SessionSettings,
} from '#engine/models';
import { compileSpeech, UnsupportedModelError } from '#engine/onnx-compiler';
import { Tensor, type InferenceSession } from 'onnxruntime-node';
import { z } from 'zod';
import { concatSamples } from '../audio/resampler.js';
import { logMelSettingsSchema, LogMelFeatures } from '../features/log-mel.js';
import type { SampleSpan } from '../vad/voice-detectors.js';
import { logSoftmax, type LogProbabilities } from './search.js';

/** Input of the network: log-mel frames (`input_features`) or samples (`input_values`). */
interface FrontEnd {
  samplingRate: number;
  input(samples: Float32Array): Tensor;
}

const rawSettingsSchema = z.looseObject({
  sampling_rate: z.int().min(4_000).max(96_000).default(16_000),
  do_normalize: z.boolean().default(true),
});

/** A CTC model with its feature extraction: samples in, log probabilities out. */
export class SpeechSession {
  private constructor(
    private readonly session: InferenceSession,
    private readonly frontEnd: FrontEnd,
    readonly backend: string,
    readonly choice: EngineChoice,
  ) {}

  /** Loads the compiled model if it can be compiled, otherwise the exported graph. Errors: ModelLoadError. */
  static async load(
    directory: string,
    engine: EngineSettings,
    settings: SessionSettings,
  ): Promise<SpeechSession> {
    const compiled = async () => {
      if (!existsSync(join(directory, 'config.json')))
        throw new UnsupportedModelError('a model without config.json', directory);
      const { onnxPath, weights } = await compileSpeech(directory, {
        cacheDir: engine.compiledDirectory,
        weights: engine.weights,
      });
      const { session, backend } = await createSession(onnxPath, settings);
      return { session, backend: `${backend} compiled ${weights}` };
    };
    const exporter = async (file: string) => {
      const { session, backend } = await createSession(file, settings);
      return { session, backend: `${backend} exporter` };
    };
    const { loaded, choice } = await chooseEngine(directory, engine, { compiled, exporter });
    const frontEnd = await openFrontEnd(directory, loaded.session.inputNames);
    return new SpeechSession(loaded.session, frontEnd, loaded.backend, choice);
  }

  /** Sample rate of the input of {@link run}, in Hz. */
  get samplingRate(): number {
    return this.frontEnd.samplingRate;
  }

  async run(samples: Float32Array): Promise<LogProbabilities> {
    const input = this.frontEnd.input(samples);
    const { logits } = await this.session.run({ [this.session.inputNames[0]!]: input }, ['logits']);
    const [, steps = 0, width = 0] = logits!.dims;
    return logSoftmax({ values: logits!.data as Float32Array, steps, width });
  }

  close(): Promise<void> {
    return this.session.release();
  }
}

async function openFrontEnd(directory: string, inputs: readonly string[]): Promise<FrontEnd> {
  if (inputs.includes('input_features')) {
    const settings = await readJson(directory, 'preprocessor_config.json', logMelSettingsSchema);
    const features = new LogMelFeatures(settings);
    return {
      samplingRate: settings.sampling_rate,
      input: (samples) => {
        const { values, frames, bands } = features.extract(samples);
        return new Tensor('float32', values, [1, frames, bands]);
      },
    };
  }
  if (!inputs.includes('input_values'))
    throw new ModelLoadError(
      `${directory}: the graph has the inputs ${inputs.join(', ')}; a CTC model has input_features or input_values.`,
    );
  const { sampling_rate, do_normalize } = await readJson(
    directory,
    'preprocessor_config.json',
    rawSettingsSchema,
  );
  return {
    samplingRate: sampling_rate,
    input: (samples) =>
      new Tensor('float32', do_normalize ? standardized(samples) : samples, [1, samples.length]),
  };
}

/** Scales samples to mean 0 and variance 1, as wav2vec 2.0 needs them. */
function standardized(samples: Float32Array): Float32Array {
  const mean = samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
  const variance = samples.reduce((sum, sample) => sum + (sample - mean) ** 2, 0) / samples.length;
  return samples.map((sample) => (sample - mean) / Math.sqrt(variance + 1e-7));
}

/** Sizes of windows, in samples. */
interface WindowRules {
  /** Samples per run of the network. */
  window: number;
  /** Overlap at both ends of a window; these scores come from the neighboring windows, which have more context. */
  overlap: number;
}

/**
 * Scores audio of any length in overlapping windows and joins the middles of their scores to one matrix. Borders
 * lie on whole steps, so that times stay exact.
 */
export async function scoreWindows(
  samples: Float32Array,
  { window, overlap }: WindowRules,
  run: (samples: Float32Array) => Promise<LogProbabilities>,
): Promise<LogProbabilities> {
  if (samples.length <= window) return run(samples);
  const parts: LogProbabilities[] = [];
  const advance = window - 2 * overlap;
  for (let start = 0; start === 0 || start + 2 * overlap < samples.length; start += advance) {
    const part = samples.subarray(start, start + window);
    const scores = await run(part);
    const stepsIn = (length: number) => Math.round((length * scores.steps) / part.length);
    const first = start === 0 ? 0 : stepsIn(overlap);
    const isLast = start + window >= samples.length;
    parts.push(slice(scores, first, isLast ? scores.steps : stepsIn(window - overlap)));
    if (isLast) break;
  }
  return joinScores(parts);
}

function slice({ values, width }: LogProbabilities, from: number, to: number): LogProbabilities {
  return { values: values.slice(from * width, to * width), steps: Math.max(0, to - from), width };
}

function joinScores(parts: readonly LogProbabilities[]): LogProbabilities {
  const width = parts[0]?.width ?? 0;
  const steps = parts.reduce((sum, part) => sum + part.steps, 0);
  return { values: concatSamples(parts.map(({ values }) => values)), steps, width };
}

/** Level of the padding relative to the speech: the noise of a quiet room, 46 dB lower. */
const noiseLevel = 0.005;

/** A span of speech with its padding. */
interface PaddedSpeech {
  samples: Float32Array;
  /** Index of its first sample in the recording; negative if the padding begins before the recording. */
  start: number;
}

/**
 * Returns a span of a recording, padded with quiet noise where the recording begins or ends with it. Models are
 * trained on speech in rooms, and mistake the first sound of a cut recording for the middle of a word.
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
