import { Tensor } from 'onnxruntime-node';
import type { Plane, SlabArray } from './slab-layout.js';

/** A stretch of positions of one sequence in a slab set. */
export interface SlabRange {
  readonly set: SlabSet;
  readonly slot: number;
  readonly start: number;
}

/** New keys and values as the graph returns them: `[2 × layers, batch, KV heads, tokens, …]`. */
export class NewKeyValues {
  private readonly words = new Map<string, Int32Array>();

  constructor(
    private readonly outputs: Readonly<Record<string, Tensor>>,
    readonly batch: number,
    readonly tokens: number,
  ) {}

  /** The numbers of an output. */
  arrayOf(output: string): SlabArray {
    return this.outputs[output]!.data as SlabArray;
  }

  /** The same in words of four bytes. */
  wordsOf(output: string): Int32Array {
    const known = this.words.get(output);
    if (known) return known;
    const { buffer, byteOffset, byteLength } = this.arrayOf(output);
    const words = new Int32Array(buffer, byteOffset, byteLength >> 2);
    this.words.set(output, words);
    return words;
  }
}

/** Where a row of a run goes: behind position `start` of a slot, `count` positions. */
interface AppendPlace {
  readonly batchRow: number;
  readonly slot: number;
  readonly start: number;
  readonly count: number;
}

/** The arrays of a plane and of its new values, and how many of their numbers a position takes. */
interface RowNumbers<Numbers> {
  readonly target: Numbers;
  readonly source: Numbers;
  readonly width: number;
}

/** Numbers of the longest copy for which a loop is faster than making two views and calling `set`. */
const longestLoop = 64;

/**
 * Keys and values of up to `batch` sequences of up to `capacity` positions: one array per plane, which a run reads
 * without a copy. Sequences are outermost, so that the first n of them are one stretch of each array.
 */
export class SlabSet {
  private readonly arrays: readonly SlabArray[];
  /** The same memory in words of four bytes: most copies are of few numbers, and thousands of them make a step. */
  private readonly words: readonly Int32Array[];
  readonly bytes: number;
  /** The inputs of the last run; the next one mostly is over the same slots. */
  private lastFeeds?: { first: number; count: number; feeds: Readonly<Record<string, Tensor>> };

  /** @param capacity A multiple of 4, so that the rows of int8 planes begin at whole words. */
  constructor(
    private readonly planes: readonly Plane[],
    readonly batch: number,
    readonly capacity: number,
  ) {
    this.arrays = planes.map(({ type, rows, width }) => {
      const length = batch * rows * capacity * width;
      return type === 'int8' ? new Int8Array(length) : new Float32Array(length);
    });
    this.words = this.arrays.map(({ buffer }) => new Int32Array(buffer));
    this.bytes = this.arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** The graph's cache inputs for the slots `first` to `first + count − 1`. */
  feeds(first: number, count: number): Readonly<Record<string, Tensor>> {
    const { lastFeeds } = this;
    if (lastFeeds?.first === first && lastFeeds.count === count) return lastFeeds.feeds;
    const feeds: Record<string, Tensor> = {};
    this.planes.forEach(({ name, type, rows, width, dims }, index) => {
      const size = rows * this.capacity * width;
      const data = this.arrays[index]!.subarray(first * size, (first + count) * size);
      feeds[name] = new Tensor(type, data as Float32Array, dims(count, this.capacity));
    });
    this.lastFeeds = { first, count, feeds };
    return feeds;
  }

  /**
   * Copies `count` positions from another set (or this one). The starts are multiples of 4; of int8 planes up to three
   * positions more may be copied, where nothing lies that anybody reads.
   */
  copyFrom(from: SlabRange, slot: number, start: number, count: number): void {
    this.planes.forEach(({ type, rows, width }, index) => {
      const perWord = type === 'int8' ? 4 : 1;
      const length = Math.ceil((count * width) / perWord);
      const [target, source] = [this.words[index]!, from.set.words[index]!];
      for (let row = 0; row < rows; row++) {
        const begin = (from.set.offset(from.slot, rows, row, from.start) * width) / perWord;
        const place = (this.offset(slot, rows, row, start) * width) / perWord;
        copyNumbers(source, begin, target, place, length);
      }
    });
  }

  /** Writes the first `count` new positions of row `batchRow` of a run behind position `start` of a slot. */
  append(news: NewKeyValues, place: AppendPlace): void {
    this.planes.forEach((plane, index) => {
      const { type, width, source, transposed } = plane;
      const { output } = source;
      if (transposed) this.appendCrosswise(plane, this.arrays[index]!, news, place);
      else if (type === 'int8' && width % 4 !== 0) {
        const numbers = {
          target: this.arrays[index] as Int8Array,
          source: news.arrayOf(output) as Int8Array,
          width,
        };
        this.appendRows(plane, numbers, news, place);
      } else {
        const words = type === 'int8' ? width / 4 : width;
        const numbers = { target: this.words[index]!, source: news.wordsOf(output), width: words };
        this.appendRows(plane, numbers, news, place);
      }
    });
  }

  private appendRows<Numbers extends Int32Array | Int8Array>(
    { rows, source: { index } }: Plane,
    { target, source, width }: RowNumbers<Numbers>,
    { batch, tokens }: NewKeyValues,
    { batchRow, slot, start, count }: AppendPlace,
  ): void {
    for (let row = 0; row < rows; row++) {
      const begin = ((index * batch + batchRow) * rows + row) * tokens * width;
      copyNumbers(source, begin, target, this.offset(slot, rows, row, start) * width, count * width);
    }
  }

  /** Row (head, dimension) of the plane takes one number of each position's vector. */
  private appendCrosswise(
    plane: Plane,
    target: SlabArray,
    news: NewKeyValues,
    { batchRow, slot, start, count }: AppendPlace,
  ): void {
    const { batch, tokens } = news;
    const source = news.arrayOf(plane.source.output);
    const dimensions = plane.dims(1, 1)[2]!;
    const heads = plane.rows / dimensions;
    const first = (plane.source.index * batch + batchRow) * heads;
    for (let head = 0; head < heads; head++) {
      const begin = this.offset(slot, plane.rows, head * dimensions, start);
      const from = (first + head) * tokens * dimensions;
      for (let dimension = 0; dimension < dimensions; dimension++) {
        const place = begin + dimension * this.capacity;
        for (let token = 0; token < count; token++) {
          target[place + token] = source[from + token * dimensions + dimension]!;
        }
      }
    }
  }

  private offset(slot: number, rows: number, row: number, position: number): number {
    return (slot * rows + row) * this.capacity + position;
  }
}

function copyNumbers<Numbers extends Int32Array | Int8Array>(
  source: Numbers,
  begin: number,
  target: Numbers,
  place: number,
  length: number,
): void {
  if (length > longestLoop) target.set(source.subarray(begin, begin + length), place);
  else for (let index = 0; index < length; index++) target[place + index] = source[begin + index]!;
}
