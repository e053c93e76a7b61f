import type { AttentionShape } from './decoder-config.js';
import type { GraphBuilder } from './graph-builder.js';

/** Added to the score of a position that must not be seen; its weight becomes exactly zero. */
const hidden = -1e9;

/** Values that every layer shares, computed once a step. */
export interface StepValues {
  /** int64 `[batch, tokens]`. */
  readonly positions: string;
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

/** Graph inputs that the shared values are computed from; `slab` is one of the value slabs. */
export interface StepInputs {
  readonly inputIds: string;
  readonly pastLengths: string;
  readonly slab: string;
}

/** Writes what every layer of one step shares: positions, masks, shapes and the rotary tables. */
export function buildStepValues(graph: GraphBuilder, shape: AttentionShape, inputs: StepInputs): StepValues {
  return new StepValuesWriter(graph, shape).write(inputs);
}

class StepValuesWriter {
  constructor(
    private readonly graph: GraphBuilder,
    private readonly shape: AttentionShape,
  ) {}

  write({ inputIds, pastLengths, slab }: StepInputs): StepValues {
    const { graph, shape } = this;
    const group = shape.heads / shape.kvHeads;
    const [batch, tokens] = this.dimensions(inputIds, [0, 1]) as [string, string];
    const [capacity] = this.dimensions(slab, [2]) as [string];
    const lengths = graph.op('Unsqueeze', [pastLengths, graph.int64([1])]);
    const newIndexes = this.range(tokens);
    const isPast = graph.op('Less', [this.range(capacity), lengths]);
    const pastMask = graph.op('Unsqueeze', [this.mask(isPast), graph.int64([1, 2])]);
    const { kvHeads, headDim, heads } = shape;
    const shapeOf = (parts: string[]): string => graph.op('Concat', parts, { attributes: { axis: 0 } });
    return {
      positions: this.positions(newIndexes, lengths),
      pastMask,
      newMask: this.causalMask(newIndexes, tokens, group),
      scoreSplit: shapeOf([tokens, capacity]),
      groupedShape: shapeOf([batch, graph.int64([kvHeads, group]), tokens, graph.int64([headDim])]),
      mergedShape: shapeOf([batch, tokens, graph.int64([heads * headDim])]),
    };
  }

  /** Padding may lie behind the last position of the rotary tables; it is kept inside, as nobody reads what comes of it. */
  private positions(newIndexes: string, lengths: string): string {
    const { graph } = this;
    const last = graph.int64Scalar(this.shape.contextLength - 1);
    return graph.op('Min', [graph.op('Add', [newIndexes, lengths]), last]);
  }

  /** Rows: group × tokens queries; columns: new tokens up to and including the query's own. */
  private causalMask(newIndexes: string, tokens: string, group: number): string {
    const { graph } = this;
    const rows = this.range(graph.op('Mul', [tokens, graph.int64([group])]));
    const queryIndexes = graph.op('Unsqueeze', [graph.op('Mod', [rows, tokens]), graph.int64([1])]);
    return this.mask(graph.op('LessOrEqual', [newIndexes, queryIndexes]));
  }

  private mask(isVisible: string): string {
    const { graph } = this;
    return graph.op('Where', [isVisible, graph.float(0), graph.float(hidden)]);
  }

  private dimensions(value: string, axes: readonly number[]): string[] {
    const { graph } = this;
    const shape = graph.op('Shape', [value]);
    return axes.map((axis) => graph.op('Slice', [shape, graph.int64([axis]), graph.int64([axis + 1])]));
  }

  /** 0 … length − 1, where length is an int64 value of one element. */
  private range(length: string): string {
    const { graph } = this;
    const limit = graph.op('Squeeze', [length]);
    return graph.op('Range', [graph.int64Scalar(0), limit, graph.int64Scalar(1)]);
  }
}
