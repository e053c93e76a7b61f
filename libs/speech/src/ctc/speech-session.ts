import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Tensor, type InferenceSession } from 'onnxruntime-node';
import { z } from 'zod';
import {
  chooseEngine,
  type EngineChoice,
  type EngineSettings,
  readJson,
  ModelLoadError,
  createSession,
  type SessionSettings,
} from '#models';
import { compileSpeech, UnsupportedModelError } from '#onnx-compiler';
import { logMelSettingsSchema } from '../features/feature-settings.js';
import { LogMelFeatures } from '../features/log-mel.js';
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
      `${directory}: the graph takes ${inputs.join(', ')}, which is no CTC model's input.`,
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
