import type { AttentionWriter, Projections } from './decoder-graph.js';
import type { AttentionShape } from './decoder-config.js';
import { type GraphBuilder, microsoft } from '../onnx/graph-builder.js';
import { quantizeRowsInGraph, rowRanges } from '../quantization/quantize.js';
import { LayerRotaries } from './rope.js';
import { type StepValues, StepValuesWriter } from './step-values.js';

/** Precision of the KV cache: float32, or int8 with one scale per position and head. */
export type KvPrecision = 'float' | 'int8';

/** The cache tensors of a layer; scales exist for int8 only. */
export interface PastCache {
  readonly keys: string;
  readonly values: string;
  readonly scales?: { readonly keys: string; readonly values: string };
}

/** Keys and values in int8, `[batch, kvHeads, tokens, headDim]`, with scales `[batch, kvHeads, 1, tokens]`. */
interface QuantizedPair {
  readonly keys: string;
  readonly values: string;
  readonly scales: { readonly keys: string; readonly values: string };
}

/** Queries, keys and values of a layer by head, rotated: `[batch, heads, tokens, headDim]`. */
interface Heads {
  readonly queries: string;
  readonly keys: string;
  readonly values: string;
}

/**
 * Attention over the caller's KV cache and the new tokens under one softmax, without a copy of the cache. New
 * tokens come first in a row of scores, so that a past position has the same index for every capacity: sums run in
 * the same order alone and in a batch, and the masked tail adds exact zeros. With an int8 cache the new tokens are
 * quantized before use, so that a token's result does not depend on whether the earlier tokens came in the same
 * pass or in earlier ones.
 */
export class ExternalKvAttention implements AttentionWriter {
  private readonly scale: number;
  private readonly caches: PastCache[];
  private readonly step: StepValues;
  private readonly rotary?: LayerRotaries;
  /** New keys and values of all layers: key 0, value 0, key 1, …; each alone or in pairs. */
  private readonly newKv: string[] = [];
  private readonly newScales: string[] = [];

  constructor(
    private readonly graph: GraphBuilder,
    private readonly shape: AttentionShape,
    private readonly kv: KvPrecision,
    inputIds: string,
  ) {
    this.scale = shape.scale ?? shape.headDim ** -0.5;
    const pastLengths = graph.input('past_lengths', 'int64', ['batch']);
    this.caches = this.declareCaches();
    const inputs = { inputIds, pastLengths, cache: this.caches[0]!.values };
    this.step = new StepValuesWriter(graph, shape).write(inputs);
    const { rope } = shape;
    if (rope) this.rotary = new LayerRotaries(graph, shape, rope);
  }

  /** int64 `[batch, tokens]`: position of each new token in its sequence. */
  get positions(): string {
    return this.step.positions;
  }

  attend(layer: number, projections: Projections): string {
    const { queries, keys, values } = this.splitHeads(layer, projections);
    const grouped = this.groupQueries(queries);
    const past = this.caches[layer]!;
    if (!past.scales) {
      this.newKv.push(keys, values);
      return this.mergeHeads(this.attendFloat(layer, grouped, [keys, values], past));
    }
    const held = this.quantizePair(keys, values);
    return this.mergeHeads(this.attendInt8(layer, grouped, held, { ...past, scales: past.scales }));
  }

  /** Returns the value unchanged if positions are added to the token embeddings. */
  private rotated(layer: number, value: string, heads: number): string {
    return this.rotary?.rotate(layer, value, this.positions, heads) ?? value;
  }

  selectRows(hiddenState: string): string {
    const { graph } = this;
    const chosen = graph.input('logit_positions', 'int64', ['rows']);
    const flat = graph.op('Reshape', [hiddenState, graph.int64([-1, this.shape.hiddenSize])]);
    return graph.op('Gather', [flat, chosen], { attributes: { axis: 0 } });
  }

  declareOutputs(logits: string): void {
    this.graph.output(logits, 'float32', ['rows', this.shape.vocabularySize]);
    this.returnNewKv();
  }

  private declareCaches(): PastCache[] {
    const { layers } = this.shape;
    if (this.kv === 'float') return Array.from({ length: layers }, (_, layer) => this.declareFloat(layer));
    const scales = this.declareScales();
    return Array.from({ length: layers }, (_, layer) => ({
      ...this.declareInt8(layer),
      scales: { keys: scales[2 * layer]!, values: scales[2 * layer + 1]! },
    }));
  }

  private declareFloat(layer: number): PastCache {
    const { kvHeads, headDim } = this.shape;
    const dims = ['batch', kvHeads, 'capacity', headDim];
    const input = (part: 'key' | 'value'): string =>
      this.graph.input(`past_key_values.${layer}.${part}`, 'float32', dims);
    return { keys: input('key'), values: input('value') };
  }

  private declareInt8(layer: number): PastCache {
    const { kvHeads, headDim } = this.shape;
    const input = (part: 'key' | 'value', dims: (number | string)[]): string =>
      this.graph.input(`past_key_values.${layer}.${part}`, 'int8', ['batch', kvHeads, ...dims]);
    return { keys: input('key', [headDim, 'capacity']), values: input('value', ['capacity', headDim]) };
  }

  /** One input for all layers, since each input costs time in every run; returns its parts: key 0, value 0, key 1, … */
  private declareScales(): string[] {
    const { graph } = this;
    const { layers, kvHeads } = this.shape;
    const dims = ['batch', 2 * layers * kvHeads, 1, 'capacity'];
    const all = graph.input('past_scales', 'float32', dims);
    return graph.split(all, Array<number>(2 * layers).fill(kvHeads), 1);
  }

  private attendFloat(
    layer: number,
    queries: string,
    [keys, values]: readonly [string, string],
    past: PastCache,
  ): string {
    const { graph, step } = this;
    const weights = this.attentionWeights(
      layer,
      this.concatColumns([this.score(queries, keys), this.score(queries, past.keys)]),
    );
    const [newWeights = '', pastWeights = ''] = graph.splitBy(weights, step.scoreSplit, 2, 3);
    const fromNew = graph.op('MatMul', [newWeights, values]);
    return graph.op('Add', [graph.op('MatMul', [pastWeights, past.values]), fromNew]);
  }

  private score(queries: string, keys: string): string {
    const attributes = { transB: 1, alpha: { float: this.scale } };
    return this.graph.op('FusedMatMul', [queries, keys], { domain: microsoft, attributes });
  }

  /**
   * Past and new parts are added as integers, so that the result does not depend on how tokens are divided between
   * them.
   */
  private attendInt8(layer: number, queries: string, held: QuantizedPair, past: Required<PastCache>): string {
    const { graph } = this;
    const exact = graph.kernel === 'exact';
    const range = exact ? rowRanges.centered : rowRanges.narrowCentered;
    const { rowMaximum, quantized } = quantizeRowsInGraph(graph, queries, range);
    const factor = graph.float(this.scale / range.levels / rowRanges.signed.levels);
    const rowScale = graph.op('Mul', [rowMaximum, factor]);
    const zeroPoint = graph.uint8(range.zeroPoint);
    const score = (keys: string, scales: string): string =>
      graph.op('MatMulIntegerToFloat', [quantized, keys, rowScale, scales, zeroPoint], { domain: microsoft });
    const newKeys = graph.op('Transpose', [held.keys], { attributes: { perm: [0, 1, 3, 2] } });
    const scores = [score(newKeys, held.scales.keys), score(past.keys, past.scales.keys)];
    const weights = this.attentionWeights(layer, this.concatColumns(scores));
    return this.weighInt8(weights, held, past);
  }

  /** The values in int8, weighted by float weights `[batch, kvHeads, group × tokens, tokens + capacity]`. */
  private weighInt8(weights: string, held: QuantizedPair, past: Required<PastCache>): string {
    const { graph, step } = this;
    const valueScales = this.concatColumns([held.scales.values, past.scales.values]);
    const scaled = graph.op('Mul', [weights, valueScales]);
    const range = graph.kernel === 'exact' ? rowRanges.positive : rowRanges.narrowPositive;
    const { rowMaximum, quantized } = quantizeRowsInGraph(graph, scaled, range);
    const [newWeights = '', pastWeights = ''] = graph.splitBy(quantized, step.scoreSplit, 2, 3);
    const sums = graph.op('Add', [
      graph.op('MatMulInteger', [newWeights, held.values]),
      graph.op('MatMulInteger', [pastWeights, past.values]),
    ]);
    const factor = graph.float(1 / range.levels / rowRanges.signed.levels);
    return graph.op('Mul', [graph.op('DequantizeLinear', [sums, factor]), rowMaximum]);
  }

  private attentionWeights(layer: number, scores: string): string {
    const { step, shape } = this;
    const mask = shape.window?.layers[layer] ? step.windowMask : step.mask;
    const visible = this.graph.op('Add', [scores, mask]);
    return this.graph.op('Softmax', [visible], { attributes: { axis: -1 } });
  }

  private concatColumns(parts: readonly string[]): string {
    return this.graph.op('Concat', parts, { attributes: { axis: 3 } });
  }

  /** Quantizes the new keys and values of a layer together, and returns them as the layer's part of the outputs. */
  private quantizePair(keys: string, values: string): QuantizedPair {
    const { graph } = this;
    const { kvHeads } = this.shape;
    const joint = graph.op('Concat', [keys, values], { attributes: { axis: 1 } });
    const { rowMaximum, quantized } = quantizeRowsInGraph(graph, joint, rowRanges.signed);
    this.newKv.push(quantized);
    this.newScales.push(rowMaximum);
    const rows = graph.op('Transpose', [rowMaximum], { attributes: { perm: [0, 1, 3, 2] } });
    const parts = (value: string) => graph.split(value, [kvHeads, kvHeads], 1) as [string, string];
    const [newKeys, newValues] = parts(quantized);
    const [keyScales, valueScales] = parts(rows);
    return { keys: newKeys, values: newValues, scales: { keys: keyScales, values: valueScales } };
  }

  /** Splits the joint projection into heads, and normalizes and rotates them. */
  private splitHeads(layer: number, { joint, normQueries, normKeys }: Projections): Heads {
    const { graph } = this;
    const { heads, kvHeads, headDim } = this.shape;
    const apart = graph.op('Reshape', [joint, graph.int64([0, 0, heads + 2 * kvHeads, headDim])]);
    const byHead = graph.op('Transpose', [apart], { attributes: { perm: [0, 2, 1, 3] } });
    const [queries = '', keys = '', values = ''] = graph.split(byHead, [heads, kvHeads, kvHeads], 1);
    return {
      queries: this.rotated(layer, normQueries?.(queries) ?? queries, heads),
      keys: this.rotated(layer, normKeys?.(keys) ?? keys, kvHeads),
      values,
    };
  }

  /** Query heads that share a KV head become rows of one matrix: `[batch, kvHeads, group × tokens, headDim]`. */
  private groupQueries(queries: string): string {
    const { kvHeads, headDim } = this.shape;
    return this.graph.op('Reshape', [queries, this.graph.int64([0, kvHeads, -1, headDim])]);
  }

  private mergeHeads(attended: string): string {
    const { graph } = this;
    const { heads, headDim } = this.shape;
    const split = graph.op('Reshape', [attended, graph.int64([0, heads, -1, headDim])]);
    const moved = graph.op('Transpose', [split], { attributes: { perm: [0, 2, 1, 3] } });
    return graph.op('Reshape', [moved, graph.int64([0, 0, heads * headDim])]);
  }

  private returnNewKv(): void {
    const { graph } = this;
    const { layers, kvHeads, headDim } = this.shape;
    const dims = ['batch', 2 * layers * kvHeads, 'tokens', headDim];
    graph.op('Concat', this.newKv, { attributes: { axis: 1 }, output: 'new_kv' });
    graph.output('new_kv', this.kv === 'float' ? 'float32' : 'int8', dims);
    if (this.kv === 'float') return;
    graph.op('Concat', this.newScales, { attributes: { axis: 1 }, output: 'new_kv_scale' });
    graph.output('new_kv_scale', 'float32', [...dims.slice(0, 3), 1]);
  }
}
