import { readPieces } from '../checkpoint/weights.js';
import type { Matrix } from '../checkpoint/matrix.js';
import type { GraphBuilder } from '../onnx/graph-builder.js';
import { takenOnce } from './taken-once.js';

/** Int8 weights with one scale per row (output channel): value = quantized × scale. */
export interface QuantizedMatrix {
  /** `[rows, columns]`, each in −127…127. */
  readonly values: Int8Array;
  /** `[rows]`. */
  readonly scales: Float32Array;
}

/** Rounds each row symmetrically to int8 by its largest magnitude. */
export function quantizeRows(values: Float32Array, rows: number, columns: number): QuantizedMatrix {
  const quantized = new Int8Array(values.length);
  const scales = new Float32Array(rows);
  for (let row = 0; row < rows; row++) {
    const start = row * columns;
    let largest = 1e-8;
    for (let i = start; i < start + columns; i++) largest = Math.max(largest, Math.abs(values[i]!));
    scales[row] = largest / 127;
    const inverse = 127 / largest;
    for (let i = start; i < start + columns; i++) quantized[i] = Math.round(values[i]! * inverse);
  }
  return { values: quantized, scales };
}

async function quantizePieces(source: Matrix): Promise<QuantizedMatrix> {
  const { rows, columns } = source;
  const values = new Int8Array(rows * columns);
  const scales = new Float32Array(rows);
  for await (const { first, count, values: exact } of readPieces(source)) {
    const piece = quantizeRows(exact, count, columns);
    values.set(piece.values, first * columns);
    scales.set(piece.scales, first);
  }
  return { values, scales };
}

/** Quantizes a matrix when the first of its two parts is requested, and frees it after the second. */
export function quantizeLazily(source: Matrix): {
  values: () => Promise<Int8Array>;
  scales: () => Promise<Float32Array>;
} {
  const take = takenOnce(() => quantizePieces(source), 2);
  return { values: () => take('values'), scales: () => take('scales') };
}

/** Keeps the scale of an all-zero row above zero. */
const minRowMaximum = 1e-9;

/**
 * Ranges of row-wise quantization: `centered`: any sign to uint8; `positive`: non-negative to uint8; `signed`: any
 * sign to int8. The narrow ranges keep every pair of products with int8 below 2¹⁵, for kernels that saturate there.
 */
export const rowRanges = {
  centered: { levels: 127, zeroPoint: 128, type: 'uint8' },
  positive: { levels: 255, zeroPoint: 0, type: 'uint8' },
  narrowCentered: { levels: 63, zeroPoint: 64, type: 'uint8' },
  narrowPositive: { levels: 127, zeroPoint: 0, type: 'uint8' },
  signed: { levels: 127, zeroPoint: 0, type: 'int8' },
} as const;
export type RowRange = (typeof rowRanges)[keyof typeof rowRanges];

/**
 * Quantizes an activation row by row: `quantized ≈ input ÷ rowMaximum × levels + zeroPoint`. rowMaximum is the
 * largest magnitude along the last axis, which is kept with size 1.
 */
export function quantizeRowsInGraph(
  graph: GraphBuilder,
  input: string,
  range: RowRange,
): { rowMaximum: string; quantized: string } {
  const magnitude = range.zeroPoint === 0 && range.type === 'uint8' ? input : graph.op('Abs', [input]);
  const largest = graph.op('ReduceMax', [magnitude], { attributes: { axes: [-1], keepdims: 1 } });
  const rowMaximum = graph.op('Max', [largest, graph.float(minRowMaximum)]);
  const relative = graph.op('Div', [input, rowMaximum]);
  const quantized = graph.op('QuantizeLinear', [
    relative,
    graph.float(1 / range.levels),
    range.type === 'int8' ? graph.int8(range.zeroPoint) : graph.uint8(range.zeroPoint),
  ]);
  return { rowMaximum, quantized };
}
