import { Tensor } from 'onnxruntime-node';
import type { CompiledDecoder } from '#engine/onnx-compiler';
import type { DecoderSequence, SequenceOptions } from '../decoder-backend.js';
import type { PositionKey } from '../images/prompt-images.js';

/** The parts of a compiled decoder that determine the layout of its cache. */
export type CacheShape = Pick<CompiledDecoder, 'layers' | 'kvHeads' | 'headDim' | 'kv'>;

/** Data of a cache tensor. */
export type CacheArray = Float32Array | Int8Array;

/**
 * One graph input that holds a part of the cache. Each sequence has `rows` rows of `capacity` positions of `width`
 * numbers, in this order.
 */
export interface CacheTensor {
  readonly name: string;
  readonly type: 'float32' | 'int8';
  readonly rows: number;
  readonly width: number;
  /**
   * Location of the new values: a graph output, and the first of its rows for a sequence (see {@link NewKeyValues}).
   */
  readonly source: { readonly output: 'new_kv' | 'new_kv_scale'; readonly firstRow: number };
  /** Positions are the last axis, so that new vectors (one per position) are written transposed. */
  readonly transposed: boolean;
  readonly dims: (batch: number, capacity: number) => number[];
}

/** Returns the cache tensors of a decoder: keys and values in the order of its layers, then the scales of all. */
export function cacheTensorsOf(shape: CacheShape): CacheTensor[] {
  const vectors = Array.from({ length: shape.layers }, (_unused, layer) => layerTensors(shape, layer)).flat();
  return shape.kv === 'float' ? vectors : [...vectors, scalesOf(shape)];
}

/** Returns the bytes that one position of one sequence takes. */
export function bytesPerPosition(shape: CacheShape): number {
  const { layers, kvHeads, headDim, kv } = shape;
  const perHead = kv === 'int8' ? headDim + 4 : headDim * 4;
  return 2 * layers * kvHeads * perHead;
}

function layerTensors({ kvHeads, headDim, kv }: CacheShape, layer: number): CacheTensor[] {
  const vectors = (part: 'key' | 'value', index: number): CacheTensor => ({
    name: `past_key_values.${layer}.${part}`,
    type: kv === 'int8' ? 'int8' : 'float32',
    rows: kvHeads,
    width: headDim,
    source: { output: 'new_kv', firstRow: index * kvHeads },
    transposed: false,
    dims: (batch, capacity) => [batch, kvHeads, capacity, headDim],
  });
  const key = vectors('key', 2 * layer);
  const value = vectors('value', 2 * layer + 1);
  if (kv === 'float') return [key, value];
  const transposedKey: CacheTensor = {
    ...key,
    rows: kvHeads * headDim,
    width: 1,
    transposed: true,
    dims: (batch, capacity) => [batch, kvHeads, headDim, capacity],
  };
  return [transposedKey, value];
}

function scalesOf({ layers, kvHeads }: CacheShape): CacheTensor {
  const rows = 2 * layers * kvHeads;
  return {
    name: 'past_scales',
    type: 'float32',
    rows,
    width: 1,
    source: { output: 'new_kv_scale', firstRow: 0 },
    transposed: false,
    dims: (batch, capacity) => [batch, rows, 1, capacity],
  };
}

/** A range of positions of one sequence in a cache. */
export interface CacheRange {
  readonly set: KvCache;
  readonly slot: number;
  readonly start: number;
}

/** New keys and values in the layout of the graph: `[batch, 2 × layers × kvHeads, tokens, …]`. */
export class NewKeyValues {
  private readonly words = new Map<string, Int32Array>();

  constructor(
    private readonly outputs: Readonly<Record<string, Pick<Tensor, 'data'>>>,
    /** Rows of each sequence: the heads of keys and values of all layers. */
    readonly rows: number,
    readonly tokens: number,
  ) {}

  /** Returns the data of an output. */
  arrayOf(output: string): CacheArray {
    return this.outputs[output]!.data as CacheArray;
  }

  /** Returns the data of an output as words of four bytes. */
  wordsOf(output: string): Int32Array {
    const known = this.words.get(output);
    if (known) return known;
    const { buffer, byteOffset, byteLength } = this.arrayOf(output);
    const words = new Int32Array(buffer, byteOffset, byteLength >> 2);
    this.words.set(output, words);
    return words;
  }
}

/** Target of one batch row: `count` positions from position `start` of a slot. */
interface AppendPlace {
  readonly batchRow: number;
  readonly slot: number;
  readonly start: number;
  readonly count: number;
}

/** Target and source arrays of one cache tensor, and the numbers per position. */
interface RowNumbers<Numbers> {
  readonly target: Numbers;
  readonly source: Numbers;
  readonly width: number;
}

/** Up to this many numbers a loop copies faster than two views and `set`. */
const maxLoopLength = 64;

/**
 * The KV cache of up to `batch` sequences of up to `capacity` positions: one array per cache tensor, which a run
 * reads without a copy. Sequences are the outermost axis, so that the first n sequences are contiguous.
 */
export class KvCache {
  private readonly arrays: readonly CacheArray[];
  /** The same memory as words of four bytes; most copies are short, and a step makes thousands of them. */
  private readonly words: readonly Int32Array[];
  readonly bytes: number;
  /** Inputs of the last run; the next run usually has the same slots. */
  private lastFeeds?: { first: number; count: number; feeds: Readonly<Record<string, Tensor>> };

  /** @param capacity A multiple of 4, so that rows of int8 tensors begin at whole words. */
  constructor(
    private readonly tensors: readonly CacheTensor[],
    readonly batch: number,
    readonly capacity: number,
  ) {
    this.arrays = tensors.map(({ type, rows, width }) => {
      const length = batch * rows * capacity * width;
      return type === 'int8' ? new Int8Array(length) : new Float32Array(length);
    });
    this.words = this.arrays.map(({ buffer }) => new Int32Array(buffer));
    this.bytes = this.arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Returns a row of a tensor of one sequence: `capacity` positions. */
  row(tensor: number, slot: number, row: number): CacheArray {
    const { rows, width } = this.tensors[tensor]!;
    const first = this.offset(slot, rows, row, 0) * width;
    return this.arrays[tensor]!.subarray(first, first + this.capacity * width);
  }

  /** Returns the cache inputs of the graph for the slots `first` to `first + count − 1`. */
  feeds(first: number, count: number): Readonly<Record<string, Tensor>> {
    const { lastFeeds } = this;
    if (lastFeeds?.first === first && lastFeeds.count === count) return lastFeeds.feeds;
    const feeds: Record<string, Tensor> = {};
    this.tensors.forEach(({ name, type, rows, width, dims }, index) => {
      const size = rows * this.capacity * width;
      const data = this.arrays[index]!.subarray(first * size, (first + count) * size);
      feeds[name] = new Tensor(type, data as Float32Array, dims(count, this.capacity));
    });
    this.lastFeeds = { first, count, feeds };
    return feeds;
  }

  /**
   * Copies `count` positions from another cache or from this one. The starts are multiples of 4. For int8 tensors
   * up to three more positions may be copied; they are unused.
   */
  copyFrom(from: CacheRange, slot: number, start: number, count: number): void {
    this.tensors.forEach(({ type, rows, width }, index) => {
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

  /** Appends the first `count` new positions of batch row `batchRow` from position `start` of a slot. */
  append(news: NewKeyValues, place: AppendPlace): void {
    this.tensors.forEach((tensor, index) => {
      const { type, width, source, transposed } = tensor;
      const { output } = source;
      if (transposed) this.appendTransposed(tensor, this.arrays[index]!, news, place);
      else if (type === 'int8' && width % 4 !== 0) {
        const numbers = {
          target: this.arrays[index] as Int8Array,
          source: news.arrayOf(output) as Int8Array,
          width,
        };
        this.appendRows(tensor, numbers, news, place);
      } else {
        const words = type === 'int8' ? width / 4 : width;
        const numbers = { target: this.words[index]!, source: news.wordsOf(output), width: words };
        this.appendRows(tensor, numbers, news, place);
      }
    });
  }

  private appendRows<Numbers extends Int32Array | Int8Array>(
    { rows, source: { firstRow } }: CacheTensor,
    { target, source, width }: RowNumbers<Numbers>,
    { rows: newRows, tokens }: NewKeyValues,
    { batchRow, slot, start, count }: AppendPlace,
  ): void {
    for (let row = 0; row < rows; row++) {
      const begin = (batchRow * newRows + firstRow + row) * tokens * width;
      copyNumbers(source, begin, target, this.offset(slot, rows, row, start) * width, count * width);
    }
  }

  /** Each row (head, dimension) of the tensor takes one number of each position's vector. */
  private appendTransposed(
    tensor: CacheTensor,
    target: CacheArray,
    news: NewKeyValues,
    { batchRow, slot, start, count }: AppendPlace,
  ): void {
    const { tokens } = news;
    const source = news.arrayOf(tensor.source.output);
    const dimensions = tensor.dims(1, 1)[2]!;
    const heads = tensor.rows / dimensions;
    const first = batchRow * news.rows + tensor.source.firstRow;
    for (let head = 0; head < heads; head++) {
      const begin = this.offset(slot, tensor.rows, head * dimensions, start);
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
  if (length > maxLoopLength) target.set(source.subarray(begin, begin + length), place);
  else for (let index = 0; index < length; index++) target[place + index] = source[begin + index]!;
}

/** The backend that owns the memory of a sequence. */
export interface SequenceOwner {
  fork(sequence: KvSequence): KvSequence;
  release(sequence: KvSequence): void;
}

/** Location of a sequence's KV cache: a cache of its own during prefill, then a slot of a batch. */
export class KvSequence implements DecoderSequence {
  length = 0;
  slot = 0;
  /** The batch in which it has a slot. */
  group?: KvCacheBatch;
  /** Positions that the mirror of {@link KernelDecoder} holds. */
  mirrored = 0;

  constructor(
    private readonly owner: SequenceOwner,
    readonly prompt: readonly number[],
    readonly options: SequenceOptions,
    /** Undefined after `release`. */
    public cache: KvCache | undefined,
  ) {}

  /** Tell the positions of the prompt apart, for the prefix cache. */
  get keys(): readonly PositionKey[] {
    return this.options.images?.keys ?? this.prompt;
  }

  fork(): KvSequence {
    return this.owner.fork(this);
  }

  release(): void {
    this.owner.release(this);
  }

  /** Removes the positions from `length` on; later tokens overwrite them. */
  truncate(length: number): void {
    this.length = length;
    this.mirrored = Math.min(this.mirrored, length);
  }
}

/** Capacities are multiples of this, so that sums run in the same order for every capacity. */
const capacityStep = 64;

/** Rounds a number of positions up to a valid capacity. */
export function roundCapacity(positions: number): number {
  return Math.max(1, Math.ceil(positions / capacityStep)) * capacityStep;
}

/**
 * Sequences of similar length that advance together in the slots 0 to n − 1 of one cache. The cache grows and
 * shrinks with its longest member, because every member pays for the capacity.
 */
export class KvCacheBatch {
  readonly members: KvSequence[] = [];
  private set?: KvCache;

  constructor(private readonly tensors: readonly CacheTensor[]) {}

  get bytes(): number {
    return this.set?.bytes ?? 0;
  }

  /** The cache of the batch; defined only while there are members. */
  get cache(): KvCache {
    return this.set!;
  }

  /**
   * Adds a sequence of `positions` positions. The first member brings its cache along, unless other sequences use
   * it.
   */
  add(sequence: KvSequence, positions: number): void {
    if (this.members.length === 0 && !sequence.group) this.set = sequence.cache;
    this.reserve(this.members.length + 1, Math.max(this.longest(), positions));
    const slot = this.members.length;
    if (this.set !== sequence.cache)
      this.set!.copyFrom({ set: sequence.cache!, slot: sequence.slot, start: 0 }, slot, 0, sequence.length);
    sequence.group?.remove(sequence);
    sequence.group = this;
    sequence.cache = this.set;
    sequence.slot = slot;
    this.members.push(sequence);
  }

  /** Removes a sequence; the last member takes its slot. */
  remove(sequence: KvSequence): void {
    const last = this.members.pop()!;
    if (last !== sequence) {
      this.set!.copyFrom({ set: this.set!, slot: last.slot, start: 0 }, sequence.slot, 0, last.length);
      last.slot = sequence.slot;
      this.members[last.slot] = last;
    }
    sequence.group = undefined;
    if (this.members.length === 0) this.set = undefined;
  }

  /** Grows the cache to `positions` positions, or shrinks it if it is more than twice as large as needed. */
  fit(positions: number): void {
    this.reserve(this.members.length, positions);
  }

  private longest(): number {
    return Math.max(0, ...this.members.map(({ length }) => length));
  }

  private reserve(members: number, positions: number): void {
    const capacity = roundCapacity(positions);
    const current = this.set;
    const fits = current && current.batch >= members && current.capacity >= capacity;
    if (fits && current.capacity <= 2 * capacity) return;
    const batch = Math.max(current?.batch ?? 1, 2 ** Math.ceil(Math.log2(members)));
    const set = new KvCache(this.tensors, batch, capacity);
    for (const member of this.members) {
      set.copyFrom({ set: current!, slot: member.slot, start: 0 }, member.slot, 0, member.length);
      member.cache = set;
    }
    this.set = set;
  }
}
