import type { DecoderShape } from './decoder-config.js';
import { type GraphBuilder, microsoft } from './graph-builder.js';
import { quantiseRowsInGraph, rowRanges } from './linear.js';

/** How the cache holds keys and values: as they are, or int8 with one scale per position and head. */
export type KvPrecision = 'float' | 'int8';

/** Values that every layer shares, computed once a step. */
export interface StepValues {
  /** int64 `[batch, tokens]`. */
  readonly positions: string;
  /** `[1, context, headDim / 2]` tables of the rotary embedding. */
  readonly cosines: string;
  readonly sines: string;
  /** float `[batch, 1, 1, capacity]`: 0 where a slab position belongs to its sequence, else very negative. */
  readonly pastMask: string;
  /** float `[group × tokens, tokens]`: causal mask of the new tokens, rows ordered by head of the group, then token. */
  readonly newMask: string;
  /** int64 `[2]`: tokens, capacity: where a row of scores splits. */
  readonly scoreSplit: string;
  /** int64 `[5]`: batch, KV heads, group, tokens, head dimension. */
  readonly groupedShape: string;
  /** int64 `[3]`: batch, tokens, heads × head dimension. */
  readonly mergedShape: string;
}

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
export class DeltaAttention {
  private readonly scale: number;

  constructor(
    private readonly graph: GraphBuilder,
    private readonly shape: DecoderShape,
    private readonly step: StepValues,
  ) {
    this.scale = shape.headDim ** -0.5;
  }

  /**
   * `queries` `[batch, tokens, heads × headDim]`, `keys` and `values` of the new tokens `[batch, kvHeads, tokens, headDim]`
   * → `[batch, tokens, heads × headDim]`.
   */
  attend(queries: string, keys: string, values: string, past: PastSlabs): string {
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
  splitHeads(value: string): string {
    const { kvHeads, headDim } = this.shape;
    const heads = this.graph.op('Reshape', [value, this.graph.int64([0, 0, kvHeads, headDim])]);
    return this.graph.op('Transpose', [heads], { attributes: { perm: [0, 2, 1, 3] } });
  }

  rotate(value: string, heads: number): string {
    const { positions, cosines, sines } = this.step;
    return this.graph.op('RotaryEmbedding', [value, positions, cosines, sines], {
      domain: microsoft,
      attributes: { num_heads: heads },
    });
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
    const { rowMaximum, quantised } = quantiseRowsInGraph(graph, queries, rowRanges.centred);
    const product = this.multiplyInteger(quantised, past.keys, rowRanges.centred.zeroPoint);
    const rowScale = graph.op('Mul', [rowMaximum, graph.float(this.scale / 127)]);
    return graph.op('Mul', [graph.op('Mul', [product, rowScale]), past.keyScales]);
  }

  private pastValues(weights: string, past: PastSlabs): string {
    const { graph } = this;
    if (!past.valueScales) return graph.op('MatMul', [weights, past.values]);
    const scaled = graph.op('Mul', [weights, past.valueScales]);
    const { rowMaximum, quantised } = quantiseRowsInGraph(graph, scaled, rowRanges.positive);
    const product = this.multiplyInteger(quantised, past.values, rowRanges.positive.zeroPoint);
    return graph.op('Mul', [product, graph.op('Mul', [rowMaximum, graph.float(1 / 255)])]);
  }

  private multiplyInteger(left: string, right: string, leftZeroPoint: number): string {
    const { graph } = this;
    const inputs = [left, right, graph.uint8(leftZeroPoint)];
    return graph.op('Cast', [graph.op('MatMulInteger', inputs)], { attributes: { to: 1 } });
  }
}
