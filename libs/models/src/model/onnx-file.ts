import type { WeightType } from './load-options.js';

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
