import type { GraphBuilder } from '../onnx/graph-builder.js';

/** Keeps the row scale away from zero for an all-zero row. */
const smallestRowMaximum = 1e-9;

/**
 * Ranges of row-wise quantisation: any sign to uint8 around a middle, values from zero up to uint8, any sign to int8. The
 * narrow ones keep every pair of products with int8 below 2¹⁵, for kernels that saturate there.
 */
export const rowRanges = {
  centred: { levels: 127, zeroPoint: 128, type: 'uint8' },
  positive: { levels: 255, zeroPoint: 0, type: 'uint8' },
  narrowCentred: { levels: 63, zeroPoint: 64, type: 'uint8' },
  narrowPositive: { levels: 127, zeroPoint: 0, type: 'uint8' },
  signed: { levels: 127, zeroPoint: 0, type: 'int8' },
} as const;
export type RowRange = (typeof rowRanges)[keyof typeof rowRanges];

/**
 * Row-wise quantisation of an activation: `quantised ≈ input ÷ rowMaximum × levels + zeroPoint`, where rowMaximum is the
 * largest magnitude along the last axis (kept as an axis of 1).
 */
export function quantiseRowsInGraph(
  graph: GraphBuilder,
  input: string,
  range: RowRange,
): { rowMaximum: string; quantised: string } {
  const magnitude = range.zeroPoint === 0 && range.type === 'uint8' ? input : graph.op('Abs', [input]);
  const largest = graph.op('ReduceMax', [magnitude], { attributes: { axes: [-1], keepdims: 1 } });
  const rowMaximum = graph.op('Max', [largest, graph.float(smallestRowMaximum)]);
  const relative = graph.op('Div', [input, rowMaximum]);
  const quantised = graph.op('QuantizeLinear', [
    relative,
    graph.float(1 / range.levels),
    range.type === 'int8' ? graph.int8(range.zeroPoint) : graph.uint8(range.zeroPoint),
  ]);
  return { rowMaximum, quantised };
}
