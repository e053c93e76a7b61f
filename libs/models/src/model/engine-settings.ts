import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { UnsupportedModelError } from '#onnx-compiler';
import { providersFor, type Device } from '../runtime/session.js';
import { onnxCandidates, type ModelLoadOptions } from './load-options.js';
import { ModelLoadError } from '../model-load-error.js';

/** Which graph of a model folder runs: one that we compile from its checkpoint, or the one an exporter put there. */
export interface EngineSettings {
  readonly kind: 'auto' | 'compiled' | 'exporter';
  /** Where compiled graphs are kept. */
  readonly compiledDirectory: string;
  readonly weights: 'int8' | 'fp32';
  /** The exporter's graph, where the folder holds one. */
  readonly onnxFile?: string;
}

/** What was chosen, as a worker reports it. */
export interface EngineChoice {
  /** File whose content identifies the weights. */
  readonly weightsFile: string;
  /** Why the model was not compiled, where it was to be. */
  readonly fallback?: string;
}

export function engineSettings(directory: string, options: ModelLoadOptions): EngineSettings {
  const cache = options.cacheDirectory ?? path.join('.data', 'models');
  const onnxFile = onnxCandidates(options.weightTypes).find((file) => existsSync(path.join(directory, file)));
  return {
    kind: options.engine ?? 'auto',
    compiledDirectory: path.resolve(cache, 'compiled'),
    // The int8 kernels are the processor's; other devices would hand every product back to it.
    weights: options.compiledWeights ?? (runsOnProcessor(options.device) ? 'int8' : 'fp32'),
    ...(onnxFile && { onnxFile: path.join(directory, onnxFile) }),
  };
}

function runsOnProcessor(device: Device = 'auto'): boolean {
  return providersFor(device)[0] === 'cpu';
}

/**
 * Compiles where the model can be compiled, otherwise runs the exporter's graph and says why. Throws ModelLoadError
 * when neither is possible, and UnsupportedModelError when `compiled` is asked for and not possible.
 */
export async function chooseEngine<Loaded>(
  directory: string,
  engine: EngineSettings,
  load: { compiled: () => Promise<Loaded>; exporter: (onnxFile: string) => Promise<Loaded> },
): Promise<{ loaded: Loaded; choice: EngineChoice }> {
  let fallback: string | undefined;
  if (engine.kind !== 'exporter') {
    try {
      const weightsFile = await findCheckpoint(directory);
      return { loaded: await load.compiled(), choice: { weightsFile } };
    } catch (error) {
      if (engine.kind === 'compiled' || !(error instanceof UnsupportedModelError)) throw error;
      fallback = error.message;
    }
  }
  const { onnxFile } = engine;
  if (!onnxFile) {
    throw new ModelLoadError(
      `${directory} holds no ONNX graph in the wanted precision. ${fallback ?? ''}`.trimEnd(),
    );
  }
  return { loaded: await load.exporter(onnxFile), choice: { weightsFile: onnxFile, fallback } };
}

async function findCheckpoint(directory: string): Promise<string> {
  const files = await readdir(directory);
  const checkpoint = files.filter((file) => file.endsWith('.safetensors')).sort()[0];
  if (!checkpoint) throw new UnsupportedModelError('a model without safetensors', directory);
  return path.join(directory, checkpoint);
}
