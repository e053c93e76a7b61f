import { type GraphBuilder, microsoft } from '../onnx/graph-builder.js';
import { transpose } from '../checkpoint/transpose.js';
import type { LinearWeights } from '../checkpoint/weights.js';
import type { BlockFormat, Matrix } from '../checkpoint/matrix.js';
import { quantizeBlocksLazily } from './blocks.js';
import { quantizeLazily, quantizeRowsInGraph, rowRanges } from './quantize.js';

/**
 * Looks up rows of a table by int64 ids: `[…]` → `[…, columns]`. With int8 weights the table is int8 with one scale
 * per row, with weights in blocks it has 8 bits in such blocks.
 */
export function lookUp(graph: GraphBuilder, table: Matrix, ids: string, mode: LinearMode): string {
  const { name, rows, columns } = table;
  if (mode === 'fp32') {
    const constant = graph.constant(`${name}.table`, 'float32', [rows, columns], () => table.read());
    return graph.op('Gather', [constant, ids]);
  }
  if (typeof mode === 'object') return lookUpBlocks(graph, table, ids, mode.block);
  const parts = quantizeLazily(table);
  const values = graph.constant(`${name}.table.int8`, 'int8', [rows, columns], parts.values);
  const scales = graph.constant(`${name}.table.scales`, 'float32', [rows, 1], parts.scales);
  const rounded = graph.op('Cast', [graph.op('Gather', [values, ids])], { attributes: { to: 1 } });
  return graph.op('Mul', [rounded, graph.op('Gather', [scales, ids])]);
}

/** The constants are those of a product with the same matrix, which shares them: an output layer may be the table too. */
function lookUpBlocks(graph: GraphBuilder, table: Matrix, ids: string, block: number): string {
  const { columns } = table;
  const { values, scales, blocks } = blockConstants(graph, table, { bits: 8, block, zeroPoints: false });
  const levels = graph.op('Cast', [graph.op('Gather', [values, ids])], { attributes: { to: 1 } });
  const numbers = graph.op('Sub', [levels, graph.float(128)]);
  const lines = graph.op('Reshape', [scales, graph.int64([-1, blocks, 1])]);
  const scaled = graph.op('Mul', [numbers, graph.op('Gather', [lines, ids])]);
  const rows = graph.op('Reshape', [scaled, graph.int64([0, 0, blocks * block])]);
  if (blocks * block === columns) return rows;
  return graph.op('Slice', [rows, graph.int64([0]), graph.int64([columns]), graph.int64([2])]);
}

/** Adds a matrix in blocks as constants in the layout of MatMulNBits. */
function blockConstants(graph: GraphBuilder, matrix: Matrix, format: BlockFormat) {
  const { name, rows, columns } = matrix;
  const { bits, block } = format;
  const blocks = Math.ceil(columns / block);
  const take = quantizeBlocksLazily(matrix, format);
  const shape = [rows, blocks, (block * bits) / 8];
  const values = graph.constant(`${name}.bits${bits}`, 'uint8', shape, () => take('values'));
  const scales = graph.constant(`${name}.scales`, 'float32', [rows * blocks], () => take('scales'));
  const zeroPoints = format.zeroPoints
    ? graph.constant(`${name}.zeros`, 'uint8', [rows * Math.ceil(blocks / 2)], () => take('zeroPoints'))
    : '';
  return { values, scales, zeroPoints, blocks };
}

/**
 * Arithmetic of a linear layer:
 * - `fp32`: float weights and activations;
 * - `int8-row`: int8 weights, activations quantized row by row, so that a row does not depend on the rest of the
 *   batch;
 * - `int8-tensor`: int8 weights, activations quantized over the whole tensor: faster, but the rounding of a row
 *   depends on the other rows;
 * - a block format: weights of 4 or 8 bits with a scale for each block of a row, activations quantized block by block.
 */
export type LinearMode = 'fp32' | 'int8-row' | 'int8-tensor' | BlockFormat;

/** Writes linear layers into a graph. Layers over the same input share its quantization. */
export class LinearLayers {
  private readonly quantizedRows = new Map<string, { rowMaximum: string; quantized: string }>();

  constructor(
    private readonly graph: GraphBuilder,
    private readonly mode: LinearMode,
  ) {}

  /** `input × weightᵀ + bias`; `input` is `[…, columns]`, the result `[…, rows]`. */
  multiply(input: string, weight: Matrix, bias?: string): string {
    const { graph } = this;
    if (this.mode === 'int8-tensor') return this.multiplyByTensor(input, weight, bias);
    if (typeof this.mode === 'object') return this.multiplyByBlock(input, weight, this.mode, bias);
    const product =
      this.mode === 'fp32' ? this.multiplyFloat(input, weight) : this.multiplyByRow(input, weight);
    return bias ? graph.op('Add', [product, bias]) : product;
  }

  /** A whole layer: its weight, and its bias if it has one. */
  project(input: string, { weight, bias }: LinearWeights): string {
    return this.multiply(input, weight, bias && this.graph.vector(bias));
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
    const { rowMaximum, quantized } = this.quantizeInput(input);
    const { values, scales, zeroPoint } = this.quantizedWeight(weight, rowRanges.centered.levels);
    const inputZero = graph.uint8(rowRanges.centered.zeroPoint);
    return graph.op('MatMulIntegerToFloat', [quantized, values, rowMaximum, scales, inputZero, zeroPoint], {
      domain: microsoft,
    });
  }

  private multiplyByTensor(input: string, weight: Matrix, bias?: string): string {
    const { values, scales, zeroPoint } = this.quantizedWeight(weight);
    const inputs = [input, values, scales, zeroPoint, ...(bias ? [bias] : [])];
    return this.graph.op('DynamicQuantizeMatMul', inputs, { domain: microsoft });
  }

  /** The operator quantizes each block of a row of the input to int8 (accuracy level 4). */
  private multiplyByBlock(input: string, weight: Matrix, wanted: BlockFormat, bias?: string): string {
    const { graph } = this;
    const format = weight.blocks?.format ?? wanted;
    const { rows, columns } = weight;
    const { bits, block } = format;
    const { values, scales, zeroPoints } = blockConstants(graph, weight, format);
    const optional = bias ? [zeroPoints, '', bias] : zeroPoints ? [zeroPoints] : [];
    return graph.op('MatMulNBits', [input, values, scales, ...optional], {
      domain: microsoft,
      attributes: { K: columns, N: rows, bits, block_size: block, accuracy_level: 4 },
    });
  }

  /**
   * Int8 weights; for saturating kernels the same numbers as uint8 with the zero point 128. The scales are divided by
   * `inputLevels`, the number that the input's maximum is rounded to.
   */
  private quantizedWeight(
    weight: Matrix,
    inputLevels = 1,
  ): { values: string; scales: string; zeroPoint: string } {
    const { graph } = this;
    const { rows, columns, name } = weight;
    const parts = quantizeLazily(weight, true);
    const divided = async () => (await parts.scales()).map((scale) => scale / inputLevels);
    const scales = (): string => graph.constant(`${name}.scales`, 'float32', [rows], divided);
    if (graph.kernel === 'exact') {
      const values = graph.constant(`${name}.int8`, 'int8', [columns, rows], parts.values);
      return { values, scales: scales(), zeroPoint: '' };
    }
    const shifted = async (): Promise<Uint8Array> => shiftToUnsigned(await parts.values());
    const values = graph.constant(`${name}.uint8`, 'uint8', [columns, rows], shifted);
    return { values, scales: scales(), zeroPoint: graph.uint8(128) };
  }

  private quantizeInput(input: string): { rowMaximum: string; quantized: string } {
    const known = this.quantizedRows.get(input);
    if (known) return known;
    const result = quantizeRowsInGraph(this.graph, input, rowRanges.centered);
    this.quantizedRows.set(input, result);
    return result;
  }
}

/** Adds 128, which flips the sign bit. */
function shiftToUnsigned(values: Int8Array): Uint8Array {
  const shifted = new Uint8Array(values.buffer, values.byteOffset, values.length);
  for (let i = 0; i < shifted.length; i++) shifted[i]! ^= 0x80;
  return shifted;
}
