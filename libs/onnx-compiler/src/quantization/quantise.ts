import type { Matrix } from '../onnx/matrix.js';

/** Int8 weights with one scale a row (an output channel): value = quantised × scale. */
export interface QuantisedMatrix {
  /** `[rows, columns]`, each in −127…127. */
  readonly values: Int8Array;
  /** `[rows]`. */
  readonly scales: Float32Array;
}

/** Symmetric rounding of each row to int8 by its largest magnitude. */
export function quantiseRows(values: Float32Array, rows: number, columns: number): QuantisedMatrix {
  const quantised = new Int8Array(values.length);
  const scales = new Float32Array(rows);
  for (let row = 0; row < rows; row++) {
    const start = row * columns;
    let largest = 1e-8;
    for (let i = start; i < start + columns; i++) largest = Math.max(largest, Math.abs(values[i]!));
    scales[row] = largest / 127;
    const inverse = 127 / largest;
    for (let i = start; i < start + columns; i++) quantised[i] = Math.round(values[i]! * inverse);
  }
  return { values: quantised, scales };
}

/**
 * Quantises a matrix when its first half is asked for and forgets it after the second: values and scales are two
 * constants of the graph, written one after the other, and the matrix should be read once and not stay in memory.
 */
export function quantiseLazily(source: Matrix): {
  values: () => Promise<Int8Array>;
  scales: () => Promise<Float32Array>;
} {
  let pending: Promise<QuantisedMatrix> | undefined;
  const take = async <Key extends keyof QuantisedMatrix>(key: Key): Promise<QuantisedMatrix[Key]> => {
    const isSecond = pending !== undefined;
    pending ??= source.read().then((values) => quantiseRows(values, source.rows, source.columns));
    const result = (await pending)[key];
    if (isSecond) pending = undefined;
    return result;
  };
  return { values: () => take('values'), scales: () => take('scales') };
}
