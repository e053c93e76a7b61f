import { readTensors } from '#engine/onnx-compiler';
import { ModelLoadError } from '#engine/models';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { normalizeVector } from './pooling.js';
import type { ActivationName, HeadStep } from './head-step.js';

type Step = (vector: Float32Array) => Float32Array;

const layerNormEpsilon = 1e-5;

/** The modules after the pooling, with their weights; computed as float32 with sums of doubles. */
export class SentenceHead {
  private constructor(private readonly steps: readonly Step[]) {}

  /** Reads the weights of the modules. Errors: ModelLoadError that names a file or a tensor. */
  static async load(steps: readonly HeadStep[]): Promise<SentenceHead> {
    return new SentenceHead(await Promise.all(steps.map((step) => loadStep(step))));
  }

  /** Returns the vector, or the scores, of one text. `pooled` may be changed. */
  apply(pooled: Float32Array): Float32Array {
    return this.steps.reduce((vector, step) => step(vector), pooled);
  }
}

async function loadStep(step: HeadStep): Promise<Step> {
  if (step.kind === 'normalize') return normalizeVector;
  if (!existsSync(path.join(step.directory, 'model.safetensors')))
    throw new ModelLoadError(
      `${step.directory} has no model.safetensors; save the model again with a present sentence-transformers.`,
    );
  const tensors = await readTensors(step.directory);
  const take = (name: string, size: number): Float32Array => {
    const values = tensors.get(name);
    if (values?.length === size) return values;
    throw new ModelLoadError(`${step.directory}/model.safetensors: ${name} is missing or has another size.`);
  };
  if (step.kind === 'layer-norm') {
    const [scale, offset] = [take('norm.weight', step.width), take('norm.bias', step.width)];
    return (vector) => layerNorm(checked(vector, step.width, step.directory), scale, offset);
  }
  const { inputs, outputs, isResidual, directory } = step;
  const weight = take('linear.weight', inputs * outputs);
  const bias = tensors.has('linear.bias') ? take('linear.bias', outputs) : undefined;
  const residual = isResidual && inputs !== outputs ? take('residual.weight', inputs * outputs) : undefined;
  const activate = activations[step.activation];
  return (vector) => {
    const input = checked(vector, inputs, directory);
    const output = multiply(input, weight, bias).map(activate);
    if (!isResidual) return output;
    const added = residual ? multiply(input, residual) : input;
    return output.map((value, index) => value + added[index]!);
  };
}

function checked(vector: Float32Array, width: number, directory: string): Float32Array {
  if (vector.length === width) return vector;
  throw new ModelLoadError(
    `${directory} takes ${width} numbers, but the module before it gives ${vector.length}.`,
  );
}

/** The product of a matrix `[outputs, inputs]` and a vector. */
function multiply(vector: Float32Array, weight: Float32Array, bias?: Float32Array): Float32Array {
  const inputs = vector.length;
  return Float32Array.from({ length: weight.length / inputs }, (_unused, row) => {
    let sum = bias?.[row] ?? 0;
    for (let column = 0; column < inputs; column++) sum += vector[column]! * weight[row * inputs + column]!;
    return sum;
  });
}

function layerNorm(vector: Float32Array, scale: Float32Array, offset: Float32Array): Float32Array {
  const mean = vector.reduce((sum, value) => sum + value, 0) / vector.length;
  const variance = vector.reduce((sum, value) => sum + (value - mean) ** 2, 0) / vector.length;
  const inverse = 1 / Math.sqrt(variance + layerNormEpsilon);
  return vector.map((value, index) => (value - mean) * inverse * scale[index]! + offset[index]!);
}

const sigmoid = (value: number): number => 1 / (1 + Math.exp(-value));

const activations: Readonly<Record<ActivationName, (value: number) => number>> = {
  Identity: (value) => value,
  Tanh: Math.tanh,
  ReLU: (value) => Math.max(0, value),
  Sigmoid: sigmoid,
  SiLU: (value) => value * sigmoid(value),
  GELU: (value) => 0.5 * value * (1 + errorFunction(value / Math.SQRT2)),
};

/** Abramowitz and Stegun 7.1.26; the error is at most 1.5e-7. */
function errorFunction(value: number): number {
  const t = 1 / (1 + 0.3275911 * Math.abs(value));
  const sum =
    t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return Math.sign(value) * (1 - sum * Math.exp(-value * value));
}
