import type { AttentionWriter, Projections } from './attention-writer.js';
import type { AttentionShape } from './decoder-config.js';
import { type GraphBuilder, microsoft } from './graph-builder.js';
import { quantiseRowsInGraph, rowRanges } from './row-quantisation.js';
import { RotaryTables } from './rotary-tables.js';
import { type StepValues, buildStepValues } from './step-values.js';

/** How the cache holds keys and values: as they are, or int8 with one scale per position and head. */
export type KvPrecision = 'float' | 'int8';

/** A layer's slabs; the scales exist for int8 only. */
export interface PastSlabs {
  readonly keys: string;
  readonly values: string;
  readonly keyScales?: string;
  readonly valueScales?: string;
}

const fusedMultiply = (graph: GraphBuilder, left: string, right: string, scale: number): string =>
  graph.op('FusedMatMul', [left, right], {
    domain: microsoft,
    attributes: { transB: 1, alpha: { float: scale } },
  });

/**
 * Attention over the past (slabs owned by the caller) and the new tokens under one joint softmax, without ever copying
 * the past. Scores lie new-first, so that a past position keeps its place in the row whatever the slabs' capacity is:
 * sums then run in the same order alone and in a batch, and the masked tail adds exact zeros.
 */
export class DeltaAttention implements AttentionWriter {
  private readonly scale: number;
  private readonly slabs: PastSlabs[];
  private readonly step: StepValues;
  private readonly rotary?: RotaryTables;
  /** New keys and values of all layers: key 0, value 0, key 1, … */
  private readonly newKv: string[] = [];

  constructor(
    private readonly graph: GraphBuilder,
    private readonly shape: AttentionShape,
    private readonly kv: KvPrecision,
    inputIds: string,
  ) {
    this.scale = shape.scale ?? shape.headDim ** -0.5;
    const pastLengths = graph.input('past_lengths', 'int64', ['batch']);
    this.slabs = Array.from({ length: shape.layers }, (_, layer) => this.declareSlabs(layer));
    this.step = buildStepValues(graph, shape, { inputIds, pastLengths, slab: this.slabs[0]!.values });
    const { rope } = shape;
    if (rope) this.rotary = new RotaryTables(graph, { ...shape, rope });
  }

  /** int64 `[batch, tokens]`: where each new token stands in its sequence. */
  get positions(): string {
    return this.step.positions;
  }

  attend(layer: number, { queries, keys, values }: Projections): string {
    const { heads, kvHeads } = this.shape;
    const newKeys = this.splitHeads(this.rotated(keys, kvHeads));
    const newValues = this.splitHeads(values);
    this.newKv.push(newKeys, newValues);
    return this.attendJointly(this.rotated(queries, heads), newKeys, newValues, this.slabs[layer]!);
  }

  /** As they are where the positions were added to the tokens. */
  private rotated(value: string, heads: number): string {
    return this.rotary?.rotate(value, this.positions, heads) ?? value;
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

  private declareSlabs(layer: number): PastSlabs {
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
      keyScales: graph.input(`${key}_scale`, 'float32', scales),
      valueScales: graph.input(`${value}_scale`, 'float32', scales),
    };
  }

  private attendJointly(queries: string, keys: string, values: string, past: PastSlabs): string {
    const { graph, step } = this;
    const grouped = this.groupQueries(queries);
    const pastScores = graph.op('Add', [this.pastScores(grouped, past), step.pastMask]);
    const newScores = graph.op('Add', [fusedMultiply(graph, grouped, keys, this.scale), step.newMask]);
    const scores = graph.op('Concat', [newScores, pastScores], { attributes: { axis: 3 } });
    const weights = graph.op('Softmax', [scores], { attributes: { axis: -1 } });
    const [newWeights = '', pastWeights = ''] = graph.splitBy(weights, step.scoreSplit, 2, 3);
    const fromNew = graph.op('MatMul', [newWeights, values]);
    const attended = graph.op('Add', [this.pastValues(pastWeights, past), fromNew]);
    return this.mergeHeads(attended);
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

  private pastScores(queries: string, past: PastSlabs): string {
    const { graph } = this;
    if (!past.keyScales) return fusedMultiply(graph, queries, past.keys, this.scale);
    const range = graph.kernel === 'exact' ? rowRanges.centred : rowRanges.narrowCentred;
    const { rowMaximum, quantised } = quantiseRowsInGraph(graph, queries, range);
    const product = this.multiplyInteger(quantised, past.keys, range.zeroPoint);
    const rowScale = graph.op('Mul', [rowMaximum, graph.float(this.scale / range.levels)]);
    return graph.op('Mul', [graph.op('Mul', [product, rowScale]), past.keyScales]);
  }

  private pastValues(weights: string, past: PastSlabs): string {
    const { graph } = this;
    if (!past.valueScales) return graph.op('MatMul', [weights, past.values]);
    const range = graph.kernel === 'exact' ? rowRanges.positive : rowRanges.narrowPositive;
    const scaled = graph.op('Mul', [weights, past.valueScales]);
    const { rowMaximum, quantised } = quantiseRowsInGraph(graph, scaled, range);
    const product = this.multiplyInteger(quantised, past.values, range.zeroPoint);
    return graph.op('Mul', [product, graph.op('Mul', [rowMaximum, graph.float(1 / range.levels)])]);
  }

  private multiplyInteger(left: string, right: string, leftZeroPoint: number): string {
    const { graph } = this;
    const inputs = [left, right, graph.uint8(leftZeroPoint)];
    return graph.op('Cast', [graph.op('MatMulInteger', inputs)], { attributes: { to: 1 } });
  }

  private returnNewKv(): void {
    const { graph } = this;
    const { layers, kvHeads, headDim } = this.shape;
    const dims = [2 * layers, 'batch', kvHeads, 'tokens', headDim];
    const parts = this.newKv.map((value) => graph.op('Unsqueeze', [value, graph.int64([0])]));
    if (this.kv === 'float') {
      graph.op('Concat', parts, { attributes: { axis: 0 }, output: 'new_kv' });
      graph.output('new_kv', 'float32', dims);
      return;
    }
    const joint = graph.op('Concat', parts, { attributes: { axis: 0 } });
    const { rowMaximum, quantised } = quantiseRowsInGraph(graph, joint, rowRanges.signed);
    const scales = graph.op('Mul', [rowMaximum, graph.float(1 / 127)]);
    graph.op('Identity', [quantised], { output: 'new_kv' });
    graph.op('Squeeze', [scales, graph.int64([4])], { output: 'new_kv_scale' });
    graph.output('new_kv', 'int8', dims);
    graph.output('new_kv_scale', 'float32', dims.slice(0, 4));
  }
}
