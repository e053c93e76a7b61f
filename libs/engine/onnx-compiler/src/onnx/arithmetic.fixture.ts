import type { FixtureTensor, FixtureTensors } from '../checkpoint/checkpoint.fixture.js';

/** A token's state; the functions below are building blocks of the reference models, in double precision. */
export type Vector = number[];

/**
 * `weight × input + bias`, the weight `[outputs, inputs]`. The input is rounded in blocks if the weight requires it.
 */
export function linear(tensors: FixtureTensors, name: string, exactInput: Vector): Vector {
  const weight = tensors[`${name}.weight`]!;
  const input = weight.inputBlock ? roundBlocks(exactInput, weight.inputBlock) : exactInput;
  const bias = tensors[`${name}.bias`];
  const [outputs = 0, inputs = 0] = weight.shape;
  return Array.from({ length: outputs }, (_, output) => {
    let sum = bias ? bias.values[output]! : 0;
    for (let i = 0; i < inputs; i++) sum += weight.values[output * inputs + i]! * input[i]!;
    return sum;
  });
}

/** Rounds a vector to 127 steps on either side of zero, block by block. */
function roundBlocks(vector: Vector, block: number): Vector {
  return vector.map((value, i) => {
    const start = i - (i % block);
    const step = Math.max(...vector.slice(start, start + block).map(Math.abs)) / 127;
    return step > 0 ? Math.round(value / step) * step : 0;
  });
}

/** Returns a row of a table. */
export function row(table: FixtureTensor, index: number): Vector {
  const width = table.shape[1]!;
  return [...table.values.subarray(index * width, (index + 1) * width)];
}

/** Adds two vectors. */
export const add = (left: Vector, right: Vector): Vector => left.map((value, i) => value + right[i]!);

/** Dot product of two vectors. */
export const dot = (left: Vector, right: Vector): number =>
  left.reduce((sum, value, i) => sum + value * right[i]!, 0);

/** RMS normalization. */
export function rmsNorm(tensors: FixtureTensors, name: string, input: Vector, epsilon: number): Vector {
  const scale = 1 / Math.sqrt(dot(input, input) / input.length + epsilon);
  return input.map((value, i) => value * scale * tensors[`${name}.weight`]!.values[i]!);
}

/** Layer normalization. */
export function layerNorm(tensors: FixtureTensors, name: string, input: Vector, epsilon: number): Vector {
  const mean = input.reduce((sum, value) => sum + value, 0) / input.length;
  const centered = input.map((value) => value - mean);
  const scale = 1 / Math.sqrt(dot(centered, centered) / input.length + epsilon);
  const { [`${name}.weight`]: weight, [`${name}.bias`]: bias } = tensors;
  return centered.map((value, i) => value * scale * weight!.values[i]! + bias!.values[i]!);
}

/** Softmax of a row of scores. */
export function softmax(scores: Vector): Vector {
  const largest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - largest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** Weighted sum of the values that one query attends to. */
export function attend(query: Vector, keys: readonly Vector[], values: readonly Vector[]): Vector {
  const weights = softmax(keys.map((key) => dot(query, key) / Math.sqrt(query.length)));
  return query.map((_, dim) => weights.reduce((sum, weight, i) => sum + weight * values[i]![dim]!, 0));
}

/** Splits a vector into heads of the given width. */
export function heads(vector: Vector, width: number): Vector[] {
  return Array.from({ length: vector.length / width }, (_, head) =>
    vector.slice(head * width, (head + 1) * width),
  );
}

/**
 * The error function with an error below 1e-13: its Maclaurin series, which suits the small arguments of a test.
 */
export function erf(x: number): number {
  if (Math.abs(x) > 5) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}
