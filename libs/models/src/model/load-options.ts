import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { UnsupportedModelError } from '#onnx-compiler';
import { ModelLoadError } from './model-files.js';
import { type Device, providersFor } from './session.js';

/** Precisions in the names that exporters give their files, e.g. `onnx/model_quantized.onnx`. */
export type WeightType = 'quantized' | 'int8' | 'uint8' | 'q4' | 'q4f16' | 'fp16' | 'fp32';

/** How far the files of a model are here. */
export interface DownloadProgress {
  readonly model: string;
  readonly loadedBytes: number;
  /** Absent until the size of the weights is known. */
  readonly totalBytes?: number;
}

/** What every loader takes: where models are found and what runs them. */
export interface ModelLoadOptions {
  /** Folder of the bundled models; default `models/` of this package. */
  readonly modelsDirectory?: string;
  /** Lets an `organization/name` id be downloaded. Without it nothing ever touches the network. */
  readonly allowHub?: boolean;
  /** Downloads are kept here and later starts use them offline; default `.data/models`. */
  readonly cacheDirectory?: string;
  /** Cache in the layout of the hub's clients that downloads go to; default the folder `hub` of `cacheDirectory`. */
  readonly hubCache?: string;
  /** Further such caches, which are only read; default that of Python's `huggingface_hub`. */
  readonly otherHubCaches?: readonly string[];
  /** Base URL of the hub; default `https://huggingface.co`. */
  readonly hubEndpoint?: string;
  /** Bearer token for gated models. */
  readonly hubToken?: string;
  /** Branch, tag or commit of a hub model; default `main`. */
  readonly revision?: string;
  /** A thread of the model that stands still for so long is ended and started again; default 60,000; 0: never. */
  readonly hangLimitMs?: number;
  readonly onProgress?: (progress: DownloadProgress) => void;
  /** Hears in words for people why a download waits or begins again. */
  readonly onNotice?: (text: string) => void;
  /** Tried in this order; default quantized, int8, uint8, fp32, fp16, q4, q4f16. */
  readonly weightTypes?: readonly WeightType[];
  readonly device?: Device;
  /**
   * `compiled`: our own graph, from config.json and safetensors; `exporter`: the ONNX graph of the folder; default
   * `auto`: compiled where the model can be.
   */
  readonly engine?: 'auto' | 'compiled' | 'exporter';
  /** Precision of the compiled graph; default int8 on the processor. Decoders on WebGPU are always fp32. */
  readonly compiledWeights?: 'int8' | 'fp32';
}

/** Suffixes of the files of each precision, most wanted first. */
const suffixes: Record<WeightType, string> = {
  quantized: '_quantized',
  int8: '_int8',
  uint8: '_uint8',
  fp32: '',
  fp16: '_fp16',
  q4: '_q4',
  q4f16: '_q4f16',
};

/** Paths of the graph inside a model folder, most wanted first: `onnx/` as the hub lays it out, then the folder itself. */
export function onnxCandidates(
  weightTypes: readonly WeightType[] = Object.keys(suffixes) as WeightType[],
): string[] {
  const names = weightTypes.map((type) => `model${suffixes[type]}.onnx`);
  const merged = weightTypes.map((type) => `decoder_model_merged${suffixes[type]}.onnx`);
  const files = [...names, ...merged];
  return [...files.map((file) => `onnx/${file}`), ...files];
}

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
