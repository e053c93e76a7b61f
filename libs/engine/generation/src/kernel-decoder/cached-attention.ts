import type { CompiledDecoder, DecoderShape } from '#engine/onnx-compiler';
import { NewKeyValues } from '../kv-cache/kv-cache.js';
import type { CacheMirror } from './cache-mirror.js';
import type { AttentionSpan, KernelMemory } from './kernels.js';
import type { KernelLayer } from './kernel-weights.js';

/** One new token: its position, and the mirror of its sequence. */
export interface TokenPlace {
  readonly row: number;
  readonly position: number;
  readonly mirror: CacheMirror;
}

/**
 * Levels of queries and of the weights of values over an int8 cache, the same as in the graph
 * (`rowRanges` of the compiler).
 */
const levelsOf = (isExact: boolean) =>
  isExact ? { queries: 127, weights: 255 } : { queries: 63, weights: 127 };

/** Attention of new tokens over the mirrors of their caches, and the keys and values that they add. */
export class CachedAttention {
  private readonly scale: number;
  private readonly levels: { readonly queries: number; readonly weights: number };
  private readonly scores: number;
  private readonly ones: number;
  /** New keys and values of all layers, and their scales. */
  private readonly news: number;
  private readonly newScales: number;
  /** Rows of new keys and values of a token. */
  private readonly newRows: number;

  /**
   * `rows`: maximum number of tokens; `capacity`: positions of a mirror; `isExact`: products of integers of
   * the graph's processor do not saturate.
   */
  constructor(
    private readonly model: CompiledDecoder,
    private readonly shape: DecoderShape,
    private readonly memory: KernelMemory,
    { rows, capacity, isExact }: { rows: number; capacity: number; isExact: boolean },
  ) {
    const { headDim } = shape;
    this.levels = levelsOf(isExact);
    this.scale = shape.scale ?? headDim ** -0.5;
    this.newRows = 2 * model.layers * model.kvHeads;
    this.scores = memory.allocate(capacity * 4 + Math.max(capacity, headDim) * 2);
    this.ones = memory.floatsOf(new Float32Array(headDim).fill(1));
    this.news = memory.allocate(rows * this.newRows * headDim * 4);
    this.newScales = memory.allocate(rows * this.newRows * 4);
  }

  /**
   * Attends in one layer. `projected`: address of the token's queries, keys and values, which are normalized and rotated in
   * place; the result of all heads goes to `output`.
   */
  attend(index: number, layer: KernelLayer, place: TokenPlace, projected: number, output: number): void {
    const { heads, kvHeads, headDim, window } = this.shape;
    const keys = projected + heads * headDim * 4;
    this.prepareHeads(projected, heads, layer.queryNorm, layer, place.position);
    this.prepareHeads(keys, kvHeads, layer.keyNorm, layer, place.position);
    this.store(index, 0, place, keys);
    this.store(index, 1, place, keys + kvHeads * headDim * 4);
    const count = place.position + 1;
    const first = window?.layers[index] ? Math.max(0, count - window.size) : 0;
    const { capacity } = place.mirror;
    const { queries, weights } = this.levels;
    const span = [first, count, capacity, heads, kvHeads, headDim, this.scale, queries, weights] as const;
    this.attendHeads(index, place.mirror, { projected, output }, span);
  }

  /** New keys and values of the tokens, in memory that the next pass overwrites. */
  newKeyValues(rows: number): NewKeyValues {
    const { memory, model, newRows } = this;
    const count = rows * newRows;
    const numbers = memory[model.kv === 'float' ? 'floats' : 'integers'](this.news, count * model.headDim);
    const scales = { data: memory.floats(this.newScales, count) };
    return new NewKeyValues({ new_kv: { data: numbers }, new_kv_scale: scales }, newRows, 1);
  }

  private attendHeads(
    layer: number,
    mirror: CacheMirror,
    { projected, output }: { projected: number; output: number },
    span: AttentionSpan,
  ): void {
    const { scores, ones, model } = this;
    const { kernels } = this.memory;
    const keys = mirror.numbersOf(layer, 0);
    const values = mirror.numbersOf(layer, 1);
    if (model.kv === 'float') {
      kernels.attendFloats(projected, keys, values, scores, output, ...span);
      return;
    }
    const [keyScales, valueScales] = [mirror.scalesOf(layer, 0), mirror.scalesOf(layer, 1)];
    kernels.attendIntegers(projected, keys, keyScales, values, valueScales, ones, scores, output, ...span);
  }

  private prepareHeads(
    address: number,
    count: number,
    norm: number | undefined,
    { rotary }: KernelLayer,
    position: number,
  ): void {
    const { kernels } = this.memory;
    const { headDim, normEpsilon } = this.shape;
    if (norm !== undefined)
      for (let head = 0; head < count; head++) {
        const place = address + head * headDim * 4;
        kernels.normalize(place, norm, place, headDim, normEpsilon);
      }
    if (!rotary) return;
    const row = position * headDim * 2;
    kernels.rotate(address, count, headDim, rotary.cosines + row, rotary.sines + row);
  }

  /** Writes new keys (part 0) or values (part 1) of all heads into the mirror and into the result. */
  private store(layer: number, part: 0 | 1, { row, position, mirror }: TokenPlace, source: number): void {
    const { memory, model } = this;
    const { headDim, kvHeads } = model;
    const { capacity } = mirror;
    const newRow = row * this.newRows + (2 * layer + part) * kvHeads;
    const target = mirror.numbersOf(layer, part);
    if (model.kv === 'float') {
      const floats = memory.allFloats;
      const [from, length] = [source / 4, kvHeads * headDim];
      floats.copyWithin(this.news / 4 + newRow * headDim, from, from + length);
      for (let head = 0; head < kvHeads; head++) {
        const place = target / 4 + (head * capacity + position) * headDim;
        floats.copyWithin(place, from + head * headDim, from + (head + 1) * headDim);
      }
      return;
    }
    const numbers = this.news + newRow * headDim;
    const scales = this.newScales + newRow * 4;
    const cacheScales = mirror.scalesOf(layer, part);
    const sizes = [capacity, kvHeads, headDim] as const;
    const { kernels } = memory;
    kernels.storeIntegers(source, numbers, scales, target, cacheScales, position, ...sizes, part === 1);
  }
}
