import { type GraphBuilder, microsoft } from './graph-builder.js';
import { type Matrix, transpose } from './matrix.js';
import { quantiseLazily } from '../quantization/quantise.js';
import { quantiseRowsInGraph, rowRanges } from '../quantization/row-quantisation.js';

/**
 * How a linear layer multiplies:
 * - `fp32`: as the checkpoint says;
 * - `int8-row`: int8 weights, activations quantised row by row, so that no row depends on what else is in the batch;
 * - `int8-tensor`: int8 weights, activations quantised over the whole tensor: faster, but a row's rounding depends on
 *   the rows beside it.
 */
export type LinearMode = 'fp32' | 'int8-row' | 'int8-tensor';

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
    const { values, scales, zeroPoint } = this.quantisedWeight(weight);
    const inputScale = graph.float(1 / 127);
    const product = graph.op(
      'MatMulIntegerToFloat',
      [quantised, values, inputScale, scales, graph.uint8(rowRanges.centred.zeroPoint), zeroPoint],
      { domain: microsoft },
    );
    return graph.op('Mul', [product, rowMaximum]);
  }

  private multiplyByTensor(input: string, weight: Matrix, bias?: string): string {
    const { values, scales, zeroPoint } = this.quantisedWeight(weight);
    const inputs = [input, values, scales, zeroPoint, ...(bias ? [bias] : [])];
    return this.graph.op('DynamicQuantizeMatMul', inputs, { domain: microsoft });
  }

  /** Int8 weights; where the machine's kernels would saturate, the same numbers as uint8 around 128. */
  private quantisedWeight(weight: Matrix): { values: string; scales: string; zeroPoint: string } {
    const { graph } = this;
    const { rows, columns, name } = weight;
    const parts = quantiseLazily(weight);
    const turned = async (): Promise<Int8Array> => transpose(await parts.values(), rows, columns);
    const scales = (): string => graph.constant(`${name}.scales`, 'float32', [rows], parts.scales);
    if (graph.kernel === 'exact') {
      const values = graph.constant(`${name}.int8`, 'int8', [columns, rows], turned);
      return { values, scales: scales(), zeroPoint: '' };
    }
    const shifted = async (): Promise<Uint8Array> => shiftToUnsigned(await turned());
    const values = graph.constant(`${name}.uint8`, 'uint8', [columns, rows], shifted);
    return { values, scales: scales(), zeroPoint: graph.uint8(128) };
  }

  private quantiseInput(input: string): { rowMaximum: string; quantised: string } {
    const known = this.quantisedRows.get(input);
    if (known) return known;
    const result = quantiseRowsInGraph(this.graph, input, rowRanges.centred);
    this.quantisedRows.set(input, result);
    return result;
  }
}

/** Adds 128, which turns the sign bit of two's complement. */
function shiftToUnsigned(values: Int8Array): Uint8Array {
  const shifted = new Uint8Array(values.buffer, values.byteOffset, values.length);
  for (let i = 0; i < shifted.length; i++) shifted[i]! ^= 0x80;
  return shifted;
}
