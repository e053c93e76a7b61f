import type { AttentionWriter, Projections } from './decoder-graph.js';
import type { AttentionShape } from './decoder-config.js';
import { type GraphBuilder, microsoft } from '../onnx/graph-builder.js';
import { quantizeRowsInGraph, rowRanges, type RowRange } from '../quantization/quantize.js';
import { LayerRotaries } from './rope.js';
import { type StepValues, buildStepValues } from './step-values.js';

/** Precision of the KV cache: float32, or int8 with one scale per position and head. */
export type KvPrecision = 'float' | 'int8';

/** The cache tensors of a layer; scales exist for int8 only. */
export interface PastCache {
  readonly keys: string;
  readonly values: string;
  readonly scales?: { readonly keys: string; readonly values: string };
}

/** New keys and values of a layer in int8: `[2, batch, kvHeads, tokens, headDim]`. */
interface QuantizedPair {
  readonly pair: string;
  /** `[2, batch, kvHeads, 1, tokens]`. */
  readonly scales: string;
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
  /** New keys and values of all layers: key 0, value 0, key 1, …; each alone or in pairs, with an axis in front. */
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
    this.caches = Array.from({ length: shape.layers }, (_, layer) => this.declareCache(layer));
    this.step = buildStepValues(graph, shape, { inputIds, pastLengths, cache: this.caches[0]!.values });
    const { rope } = shape;
    if (rope) this.rotary = new LayerRotaries(graph, shape, rope);
  }

  /** int64 `[batch, tokens]`: position of each new token in its sequence. */
  get positions(): string {
    return this.step.positions;
  }

  attend(layer: number, { queries, keys, values }: Projections): string {
    const { heads, kvHeads } = this.shape;
    const newKeys = this.splitHeads(this.rotated(layer, keys, kvHeads));
    const newValues = this.splitHeads(values);
    const grouped = this.groupQueries(this.rotated(layer, queries, heads));
    const raised = [newKeys, newValues].map((part) =>
      this.graph.op('Unsqueeze', [part, this.graph.int64([0])]),
    );
    const past = this.caches[layer]!;
    if (!past.scales) {
      this.newKv.push(...raised);
      return this.mergeHeads(this.attendFloat(layer, grouped, [newKeys, newValues], past));
    }
    const held = this.quantizePair(this.graph.op('Concat', raised, { attributes: { axis: 0 } }));
    this.newKv.push(held.pair);
    this.newScales.push(held.scales);
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

  private declareCache(layer: number): PastCache {
    const { graph } = this;
    const { kvHeads, headDim } = this.shape;
    const [key, value] = [`past_key_values.${layer}.key`, `past_key_values.${layer}.value`];
    const positionsFirst = ['batch', kvHeads, 'capacity', headDim];
    if (this.kv === 'float')
      return {
        keys: graph.input(key, 'float32', positionsFirst),
        values: graph.input(value, 'float32', positionsFirst),
      };
    const scales = ['batch', kvHeads, 1, 'capacity'];
    return {
      keys: graph.input(key, 'int8', ['batch', kvHeads, headDim, 'capacity']),
      values: graph.input(value, 'int8', positionsFirst),
      scales: {
        keys: graph.input(`${key}_scale`, 'float32', scales),
        values: graph.input(`${value}_scale`, 'float32', scales),
      },
    };
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
  private attendInt8(
    layer: number,
    queries: string,
    { pair, scales }: QuantizedPair,
    { scales: pastScales, ...past }: Required<PastCache>,
  ): string {
    const { graph, step } = this;
    const [newKeys, newValues] = this.parts(pair);
    const [newKeyScales, newValueScales] = this.parts(scales);
    const keyScales = this.concatColumns([newKeyScales, pastScales.keys]);
    const valueScales = this.concatColumns([newValueScales, pastScales.values]);
    const exact = graph.kernel === 'exact';

    const query = this.quantize(queries, exact ? rowRanges.centered : rowRanges.narrowCentered, this.scale);
    const transposedKeys = graph.op('Transpose', [newKeys], { attributes: { perm: [0, 1, 3, 2] } });
    const products = [query.multiply(transposedKeys), query.multiply(past.keys)];
    const scores = graph.op('Mul', [query.scale(this.concatColumns(products)), keyScales]);
    const weights = this.attentionWeights(layer, scores);

    const scaled = graph.op('Mul', [weights, valueScales]);
    const weight = this.quantize(scaled, exact ? rowRanges.positive : rowRanges.narrowPositive);
    const [newWeights = '', pastWeights = ''] = graph.splitBy(weight.quantized, step.scoreSplit, 2, 3);
    const sums = [weight.multiply(newValues, newWeights), weight.multiply(past.values, pastWeights)];
    return weight.scale(graph.op('Add', sums));
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

  private parts(pair: string): [string, string] {
    const { graph } = this;
    const part = (index: number) =>
      graph.op('Gather', [pair, graph.int64Scalar(index)], { attributes: { axis: 0 } });
    return [part(0), part(1)];
  }

  private quantizePair(pair: string): QuantizedPair {
    const { graph } = this;
    const { rowMaximum, quantized } = quantizeRowsInGraph(graph, pair, rowRanges.signed);
    const column = graph.op('Mul', [rowMaximum, graph.float(1 / rowRanges.signed.levels)]);
    const scales = graph.op('Transpose', [column], { attributes: { perm: [0, 1, 2, 4, 3] } });
    return { pair: quantized, scales };
  }

  /**
   * Quantizes rows, and returns functions that multiply them with another matrix and that scale the sums by
   * `factor`.
   */
  private quantize(rows: string, range: RowRange, factor = 1) {
    const { graph } = this;
    const { rowMaximum, quantized } = quantizeRowsInGraph(graph, rows, range);
    const zeroPoint = graph.uint8(range.zeroPoint);
    return {
      quantized,
      multiply: (right: string, left = quantized) => graph.op('MatMulInteger', [left, right, zeroPoint]),
      scale: (sums: string) => {
        const rowScale = graph.op('Mul', [rowMaximum, graph.float(factor / range.levels)]);
        return graph.op('Mul', [graph.op('Cast', [sums], { attributes: { to: 1 } }), rowScale]);
      },
    };
  }

  /** `[batch, tokens, kvHeads × headDim]` → `[batch, kvHeads, tokens, headDim]`. */
  private splitHeads(value: string): string {
    const { kvHeads, headDim } = this.shape;
    const heads = this.graph.op('Reshape', [value, this.graph.int64([0, 0, kvHeads, headDim])]);
    return this.graph.op('Transpose', [heads], { attributes: { perm: [0, 2, 1, 3] } });
  }

  /** Query heads that share a KV head become rows of one matrix: `[batch, kvHeads, group × tokens, headDim]`. */
  private groupQueries(queries: string): string {
    const { graph } = this;
    const { heads, kvHeads, headDim } = this.shape;
    const split = graph.op('Reshape', [queries, graph.int64([0, 0, kvHeads, heads / kvHeads, headDim])]);
    const moved = graph.op('Transpose', [split], { attributes: { perm: [0, 2, 3, 1, 4] } });
    return graph.op('Reshape', [moved, graph.int64([0, kvHeads, -1, headDim])]);
  }

  private mergeHeads(attended: string): string {
    const { graph, step } = this;
    const split = graph.op('Reshape', [attended, step.groupedShape]);
    const moved = graph.op('Transpose', [split], { attributes: { perm: [0, 3, 1, 2, 4] } });
    return graph.op('Reshape', [moved, step.mergedShape]);
  }

  private returnNewKv(): void {
    const { graph } = this;
    const { layers, kvHeads, headDim } = this.shape;
    const dims = [2 * layers, 'batch', kvHeads, 'tokens', headDim];
    graph.op('Concat', this.newKv, { attributes: { axis: 0 }, output: 'new_kv' });
    graph.output('new_kv', this.kv === 'float' ? 'float32' : 'int8', dims);
    if (this.kv === 'float') return;
    const scales = graph.op('Concat', this.newScales, { attributes: { axis: 0 } });
    graph.op('Squeeze', [scales, graph.int64([3])], { output: 'new_kv_scale' });
    graph.output('new_kv_scale', 'float32', dims.slice(0, 4));
  }
}
