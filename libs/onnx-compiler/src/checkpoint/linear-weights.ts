import { type Matrix, matrix, stack } from '../onnx/matrix.js';
import type { SafetensorsReader } from './safetensors.js';

/** A linear layer: its matrix and, where the checkpoint has one, its bias. */
export interface LinearWeights {
  readonly weight: Matrix;
  readonly bias?: Matrix;
}

/** The layers named by `parts`, which share their input, stacked into one called `name`. */
export function linearWeights(
  reader: SafetensorsReader,
  name: string,
  parts: readonly string[],
): LinearWeights {
  const tensors = (kind: 'weight' | 'bias'): Matrix =>
    stack(
      `${name}.${kind}`,
      parts.map((part) => matrix(reader, `${part}.${kind}`)),
    );
  return reader.has(`${parts[0]}.bias`)
    ? { weight: tensors('weight'), bias: tensors('bias') }
    : { weight: tensors('weight') };
}
