import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { UnsupportedModelError } from '#engine/onnx-compiler';
import { ModelLoadError } from './model-files.js';
import { type Device, providersFor } from './session.js';

/** Precisions by their names in exported files, e.g. `onnx/model_quantized.onnx`. */
export type WeightType = 'quantized' | 'int8' | 'uint8' | 'q4' | 'q4f16' | 'fp16' | 'fp32';

/** Progress of a download. */
export interface DownloadProgress {
  readonly model: string;
  readonly loadedBytes: number;
  /** Absent until the size of the weights is known. */
  readonly totalBytes?: number;
}

/** Options of every loader: the locations of models, and the engine that runs them. */
export interface ModelLoadOptions {
  /** Folder of the bundled models; default `models/` of this package. */
  readonly modelsDirectory?: string;
  /** Allows downloads of `organization/name` ids. Without it the loaders never use the network. */
  readonly allowHub?: boolean;
  /** Folder of downloads, which later starts use offline; default `.data/models`. */
  readonly cacheDirectory?: string;
  /** Cache for downloads, in the layout of the hub's clients; default: the folder `hub` of `cacheDirectory`. */
  readonly hubCache?: string;
  /** Further caches in this layout, read-only; default: the cache of Python's `huggingface_hub`. */
  readonly otherHubCaches?: readonly string[];
  /** Base URL of the hub; default `https://huggingface.co`. */
  readonly hubEndpoint?: string;
  /** Bearer token for gated models. */
  readonly hubToken?: string;
  /** Branch, tag or commit of a hub model; default `main`. */
  readonly revision?: string;
  /** Time after which a stalled thread of the model is ended and restarted; default 60,000; 0: never. */
  readonly hangLimitMs?: number;
  readonly onProgress?: (progress: DownloadProgress) => void;
  /** Called with a message for the user when a download waits or retries. */
  readonly onNotice?: (text: string) => void;
  /** Precisions of exported graphs, most preferred first; default quantized, int8, uint8, fp32, fp16, q4, q4f16. */
  readonly weightTypes?: readonly WeightType[];
  readonly device?: Device;
  /**
   * `compiled`: our own graph, from config.json and safetensors; `exporter`: the ONNX graph of the folder; default
   * `auto`: compiled if the compiler supports the model.
   */
  readonly engine?: 'auto' | 'compiled' | 'exporter';
  /** Precision of the compiled graph; default int8 on the CPU. Decoders on WebGPU are always fp32. */
  readonly compiledWeights?: 'int8' | 'fp32';
}

/** File name suffixes of each precision, most preferred first. */
const suffixes: Record<WeightType, string> = {
  quantized: '_quantized',
  int8: '_int8',
  uint8: '_uint8',
  fp32: '',
  fp16: '_fp16',
  q4: '_q4',
  q4f16: '_q4f16',
};

/** Candidate paths of the graph, most preferred first: in `onnx/` as on the hub, then in the model folder itself. */
export function onnxCandidates(
  weightTypes: readonly WeightType[] = Object.keys(suffixes) as WeightType[],
): string[] {
  const names = weightTypes.map((type) => `model${suffixes[type]}.onnx`);
  const merged = weightTypes.map((type) => `decoder_model_merged${suffixes[type]}.onnx`);
  const files = [...names, ...merged];
  return [...files.map((file) => `onnx/${file}`), ...files];
}

/** Settings for the choice of the graph: compiled from the checkpoint, or the exported graph of the folder. */
export interface EngineSettings {
  readonly kind: 'auto' | 'compiled' | 'exporter';
  /** Folder of compiled graphs. */
  readonly compiledDirectory: string;
  readonly weights: 'int8' | 'fp32';
  /** The exported graph, if the folder has one. */
  readonly onnxFile?: string;
}

/** The engine that a worker chose. */
export interface EngineChoice {
  /** File whose content identifies the weights. */
  readonly weightsFile: string;
  /** Reason why the model was not compiled; absent if it was compiled or the exported graph was asked for. */
  readonly fallback?: string;
}

export function engineSettings(directory: string, options: ModelLoadOptions): EngineSettings {
  const cache = options.cacheDirectory ?? path.join('.data', 'models');
  const onnxFile = onnxCandidates(options.weightTypes).find((file) => existsSync(path.join(directory, file)));
  return {
    kind: options.engine ?? 'auto',
    compiledDirectory: path.resolve(cache, 'compiled'),
    // Only the CPU has int8 kernels; other devices would run every product on the CPU.
    weights: options.compiledWeights ?? (runsOnProcessor(options.device) ? 'int8' : 'fp32'),
    ...(onnxFile && { onnxFile: path.join(directory, onnxFile) }),
  };
}

function runsOnProcessor(device: Device = 'auto'): boolean {
  return providersFor(device)[0] === 'cpu';
}

/**
 * Compiles the model if the compiler supports it, otherwise loads the exported graph and reports the reason. Throws
 * ModelLoadError if neither is possible, UnsupportedModelError if `compiled` is asked for and not possible.
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
