import type { AttentionShape } from './decoder-config.js';
import type { GraphBuilder } from '../onnx/graph-builder.js';

/** Added to the score of a masked position; its weight becomes exactly zero. */
const hidden = -1e9;

/** Values that all layers share, computed once per step. */
export interface StepValues {
  /** int64 `[batch, tokens]`. */
  readonly positions: string;
  /**
   * float `[batch, 1, group × tokens, tokens + capacity]`: 0 where a query may attend, otherwise a large negative
   * number. Rows are ordered by head of the group, then by token; columns are the new tokens, then the cache.
   */
  readonly mask: string;
  /** The mask for layers with a window; equal to `mask` if there are none. */
  readonly windowMask: string;
  /** int64 `[2]`: tokens and capacity, the sizes of the two parts of a row of scores. */
  readonly scoreSplit: string;
}

/** Graph inputs of the shared values; `cache` is one of the value tensors of the KV cache. */
export interface StepInputs {
  readonly inputIds: string;
  readonly pastLengths: string;
  readonly cache: string;
}

/** Writes the values that all layers of a step share: positions, masks and shapes. */
export class StepValuesWriter {
  constructor(
    private readonly graph: GraphBuilder,
    private readonly shape: AttentionShape,
  ) {}

  write({ inputIds, pastLengths, cache }: StepInputs): StepValues {
    const { graph, shape } = this;
    const group = shape.heads / shape.kvHeads;
    const [batch, tokens] = this.dimensions(inputIds, [0, 1]) as [string, string];
    const [capacity] = this.dimensions(cache, [2]) as [string];
    const lengths = graph.op('Unsqueeze', [pastLengths, graph.int64([1])]);
    const newIndexes = this.range(tokens);
    const isPast = graph.op('Less', [this.range(capacity), lengths]);
    const pastMask = graph.op('Unsqueeze', [this.mask(isPast), graph.int64([1, 2])]);
    const rows = graph.op('Mul', [tokens, graph.int64([group])]);
    const queryIndexes = this.queryIndexes(rows, tokens);
    const newMask = this.causalMask(newIndexes, queryIndexes);
    const mask = this.joinMasks([newMask, pastMask], batch, rows);
    const positions = this.positions(newIndexes, lengths);
    const keys = () => this.keyIndexes([newIndexes, this.range(capacity)], lengths, [batch, tokens]);
    return {
      positions,
      mask,
      windowMask: shape.window ? this.windowMask(mask, queryIndexes, keys(), shape.window.size) : mask,
      scoreSplit: this.shapeOf([tokens, capacity]),
    };
  }

  /** Positions of padding may exceed the rotary tables; they are clamped, because their results are unused. */
  private positions(newIndexes: string, lengths: string): string {
    const { graph } = this;
    const last = graph.int64Scalar(this.shape.contextLength - 1);
    return graph.op('Min', [graph.op('Add', [newIndexes, lengths]), last]);
  }

  /** `[group × tokens, 1]`: the new token whose query is in each row. */
  private queryIndexes(rows: string, tokens: string): string {
    const { graph } = this;
    return graph.op('Unsqueeze', [graph.op('Mod', [this.range(rows), tokens]), graph.int64([1])]);
  }

  /** Rows: group × tokens queries; columns: new tokens up to and including the query's own. */
  private causalMask(newIndexes: string, queryIndexes: string): string {
    return this.mask(this.graph.op('LessOrEqual', [newIndexes, queryIndexes]));
  }

  /** `[batch, 1, 1, tokens + capacity]`: the position of each key, counted from the first new token. */
  private keyIndexes(
    [newIndexes, pastIndexes]: [string, string],
    lengths: string,
    [batch, tokens]: [string, string],
  ): string {
    const { graph } = this;
    const added = graph.op('Expand', [newIndexes, this.shapeOf([batch, tokens])]);
    const past = graph.op('Sub', [pastIndexes, lengths]);
    const keys = graph.op('Concat', [added, past], { attributes: { axis: 1 } });
    return graph.op('Unsqueeze', [keys, graph.int64([1, 2])]);
  }

  /** Restricts a mask to the last `size` positions of each query, including its own. */
  private windowMask(mask: string, queryIndexes: string, keyIndexes: string, size: number): string {
    const { graph } = this;
    const first = graph.op('Sub', [queryIndexes, graph.int64Scalar(size)]);
    return graph.op('Add', [mask, this.mask(graph.op('Greater', [keyIndexes, first]))]);
  }

  /** `[rows, tokens]` and `[batch, 1, 1, capacity]` concatenated along the last axis. */
  private joinMasks([newMask, pastMask]: [string, string], batch: string, rows: string): string {
    const { graph } = this;
    const one = graph.int64([1]);
    const expand = (mask: string, sizes: string[]): string => graph.op('Expand', [mask, this.shapeOf(sizes)]);
    const parts = [expand(newMask, [batch, one, one, one]), expand(pastMask, [one, one, rows, one])];
    return graph.op('Concat', parts, { attributes: { axis: 3 } });
  }

  private shapeOf(sizes: string[]): string {
    return this.graph.op('Concat', sizes, { attributes: { axis: 0 } });
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
