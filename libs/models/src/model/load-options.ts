import type { Device } from '../runtime/session.js';

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

const suffixes: Record<WeightType, string> = {
  quantized: '_quantized',
  int8: '_int8',
  uint8: '_uint8',
  q4: '_q4',
  q4f16: '_q4f16',
  fp16: '_fp16',
  fp32: '',
};

const defaultWeightTypes: readonly WeightType[] = [
  'quantized',
  'int8',
  'uint8',
  'fp32',
  'fp16',
  'q4',
  'q4f16',
];

/** Paths of the graph inside a model folder, most wanted first: `onnx/` as the hub lays it out, then the folder itself. */
export function onnxCandidates(weightTypes: readonly WeightType[] = defaultWeightTypes): string[] {
  const names = weightTypes.map((type) => `model${suffixes[type]}.onnx`);
  const merged = weightTypes.map((type) => `decoder_model_merged${suffixes[type]}.onnx`);
  const files = [...names, ...merged];
  return [...files.map((file) => `onnx/${file}`), ...files];
}
