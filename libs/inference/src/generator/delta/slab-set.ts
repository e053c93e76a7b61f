import { Tensor } from 'onnxruntime-node';
import type { Plane, SlabArray } from './slab-layout.js';

/** A stretch of positions of one sequence in a slab set. */
export interface SlabRange {
  readonly set: SlabSet;
  readonly slot: number;
  readonly start: number;
}

/** New keys and values as the graph returns them: `[2 × layers, batch, KV heads, tokens, …]`. */
export interface NewKeyValues {
  readonly outputs: Readonly<Record<string, Tensor>>;
  readonly batch: number;
  readonly tokens: number;
}

/**
 * Keys and values of up to `batch` sequences of up to `capacity` positions: one array per plane, which a run reads
 * without a copy. Sequences are outermost, so that the first n of them are one stretch of each array.
 */
export class SlabSet {
  private readonly arrays: readonly SlabArray[];

  constructor(
    private readonly planes: readonly Plane[],
    readonly batch: number,
    readonly capacity: number,
  ) {
    this.arrays = planes.map(({ type, rows, width }) => {
      const length = batch * rows * capacity * width;
      return type === 'int8' ? new Int8Array(length) : new Float32Array(length);
    });
  }

  get bytes(): number {
    return this.arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** The graph's cache inputs for the slots `first` to `first + count − 1`. */
  feeds(first: number, count: number): Record<string, Tensor> {
    const feeds: Record<string, Tensor> = {};
    this.planes.forEach(({ name, type, rows, width, dims }, index) => {
      const size = rows * this.capacity * width;
      const data = this.arrays[index]!.subarray(first * size, (first + count) * size);
      feeds[name] = new Tensor(type, data as Float32Array, dims(count, this.capacity));
    });
    return feeds;
  }

  /** Copies `count` positions from another set (or this one). */
  copyFrom(from: SlabRange, slot: number, start: number, count: number): void {
    this.planes.forEach(({ rows, width }, index) => {
      const source = from.set.arrays[index]!;
      const target = this.arrays[index]!;
      for (let row = 0; row < rows; row++) {
        const begin = from.set.offset(from.slot, rows, row, from.start) * width;
        const place = this.offset(slot, rows, row, start) * width;
        target.set(source.subarray(begin, begin + count * width), place);
      }
    });
  }

  /** Writes the first `count` new positions of row `batchRow` of a run behind position `start` of a slot. */
  append(news: NewKeyValues, batchRow: number, slot: number, start: number, count: number): void {
    this.planes.forEach((plane, index) => {
      const source = news.outputs[plane.source.output]!.data as SlabArray;
      const outer = plane.source.index * news.batch + batchRow;
      if (plane.transposed) this.appendCrosswise(plane, index, source, { outer, news, slot, start, count });
      else this.appendRows(plane, index, source, { outer, news, slot, start, count });
    });
  }

  private appendRows(plane: Plane, index: number, source: SlabArray, place: AppendPlace): void {
    const { rows, width } = plane;
    const { outer, news, slot, start, count } = place;
    for (let row = 0; row < rows; row++) {
      const begin = (outer * rows + row) * news.tokens * width;
      const target = this.offset(slot, rows, row, start) * width;
      this.arrays[index]!.set(source.subarray(begin, begin + count * width), target);
    }
  }

  /** Row (head, dimension) of the plane takes one number of each position's vector. */
  private appendCrosswise(plane: Plane, index: number, source: SlabArray, place: AppendPlace): void {
    const { outer, news, slot, start, count } = place;
    const target = this.arrays[index]!;
    const dimensions = this.headDimension(plane);
    const heads = plane.rows / dimensions;
    for (let head = 0; head < heads; head++) {
      for (let dimension = 0; dimension < dimensions; dimension++) {
        const begin = this.offset(slot, plane.rows, head * dimensions + dimension, start);
        const from = (outer * heads + head) * news.tokens * dimensions + dimension;
        for (let token = 0; token < count; token++) {
          target[begin + token] = source[from + token * dimensions]!;
        }
      }
    }
  }

  private headDimension(plane: Plane): number {
    return plane.dims(1, 1)[2]!;
  }

  private offset(slot: number, rows: number, row: number, position: number): number {
    return (slot * rows + row) * this.capacity + position;
  }
}

interface AppendPlace {
  readonly outer: number;
  readonly news: NewKeyValues;
  readonly slot: number;
  readonly start: number;
  readonly count: number;
}
