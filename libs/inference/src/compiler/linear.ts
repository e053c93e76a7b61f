import { type GraphBuilder, microsoft } from './graph-builder.js';
import { type Matrix, transpose } from './matrix.js';
import { quantiseLazily } from './quantise.js';

/**
 * How a linear layer multiplies:
 * - `fp32`: as the checkpoint says;
 * - `int8-row`: int8 weights, activations quantised row by row, so that no row depends on what else is in the batch;
 * - `int8-tensor`: int8 weights, activations quantised over the whole tensor: faster, but a row's rounding depends on
 *   the rows beside it.
 */
export type LinearMode = 'fp32' | 'int8-row' | 'int8-tensor';

/** Keeps the row scale away from zero for an all-zero row. */
const smallestRowMaximum = 1e-9;

/** Writes linear layers into a graph. Layers over the same input share its quantisation. */
export class LinearLayers {
  private readonly quantisedRows = new Map<string, { rowMaximum: string; quantised: string }>();

  constructor(
    private readonly graph: GraphBuilder,
    private readonly mode: LinearMode,
  ) {}

  /** `input × weightᵀ + bias`; `input` is `[…, columns]`, the result `[…, rows]`. */
  multiply(input: string, weight: Matrix, bias?: string): string {
    const { graph } = this;
    if (this.mode === 'int8-tensor') return this.multiplyByTensor(input, weight, bias);
    const product =
      this.mode === 'fp32' ? this.multiplyFloat(input, weight) : this.multiplyByRow(input, weight);
    return bias ? graph.op('Add', [product, bias]) : product;
  }

  private multiplyFloat(input: string, weight: Matrix): string {
    const { rows, columns, name } = weight;
    const constant = this.graph.constant(name, 'float32', [columns, rows], async () =>
      transpose(await weight.read(), rows, columns),
    );
    return this.graph.op('MatMul', [input, constant]);
  }

  private multiplyByRow(input: string, weight: Matrix): string {
    const { graph } = this;
    const { rowMaximum, quantised } = this.quantiseInput(input);
    const { values, scales } = this.quantisedWeight(weight);
    const inputScale = graph.float(1 / 127);
    const product = graph.op(
      'MatMulIntegerToFloat',
      [quantised, values, inputScale, scales, graph.uint8(rowRanges.centred.zeroPoint)],
      { domain: microsoft },
    );
    return graph.op('Mul', [product, rowMaximum]);
  }

  private multiplyByTensor(input: string, weight: Matrix, bias?: string): string {
    const { values, scales } = this.quantisedWeight(weight);
    return this.graph.op('DynamicQuantizeMatMul', [input, values, scales, '', ...(bias ? [bias] : [])], {
      domain: microsoft,
    });
  }

  private quantisedWeight(weight: Matrix): { values: string; scales: string } {
    const { rows, columns, name } = weight;
    const parts = quantiseLazily(weight);
    const make = async (): Promise<Int8Array> => transpose(await parts.values(), rows, columns);
    return {
      values: this.graph.constant(`${name}.int8`, 'int8', [columns, rows], make),
      scales: this.graph.constant(`${name}.scales`, 'float32', [rows], parts.scales),
    };
  }

  private quantiseInput(input: string): { rowMaximum: string; quantised: string } {
    const known = this.quantisedRows.get(input);
    if (known) return known;
    const result = quantiseRowsInGraph(this.graph, input, rowRanges.centred);
    this.quantisedRows.set(input, result);
    return result;
  }
}

/** Ranges of row-wise quantisation: any sign to uint8 around 128, weights of a softmax to uint8, any sign to int8. */
export const rowRanges = {
  centred: { levels: 127, zeroPoint: 128, type: 'uint8' },
  positive: { levels: 255, zeroPoint: 0, type: 'uint8' },
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
  const magnitude = range === rowRanges.positive ? input : graph.op('Abs', [input]);
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
