import type { CompiledDecoder, DecoderShape } from '#onnx-compiler';
import { NewKeyValues } from '../kv-cache/kv-cache.js';
import type { CacheMirror } from './cache-mirror.js';
import type { KernelMemory } from './kernels.js';
import type { KernelLayer } from './kernel-weights.js';

/** One new token: its position, and the mirror of its sequence. */
export interface TokenPlace {
  readonly row: number;
  readonly position: number;
  readonly mirror: CacheMirror;
}

/** Attention of new tokens over the mirrors of their caches, and the keys and values that they add. */
export class CachedAttention {
  private readonly scale: number;
  private readonly scores: number;
  private readonly ones: number;
  /** New keys and values of all layers, and their scales. */
  private readonly news: number;
  private readonly newScales: number;
  /** Rows of new keys and values of a token. */
  private readonly newRows: number;

  /** @param rows Maximum number of tokens. @param capacity Positions of a mirror. */
  constructor(
    private readonly model: CompiledDecoder,
    private readonly shape: DecoderShape,
    private readonly memory: KernelMemory,
    rows: number,
    capacity: number,
  ) {
    const { headDim } = shape;
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
    const headBytes = headDim * 4;
    const keys = projected + heads * headBytes;
    this.prepareHeads(projected, heads, layer.queryNorm, layer, place.position);
    this.prepareHeads(keys, kvHeads, layer.keyNorm, layer, place.position);
    for (const part of [0, 1] as const)
      for (let head = 0; head < kvHeads; head++)
        this.store(index, part, head, place, keys + (part * kvHeads + head) * headBytes);
    const count = place.position + 1;
    const first = window?.layers[index] ? Math.max(0, count - window.size) : 0;
    for (let head = 0; head < heads; head++) {
      const kvHead = Math.floor((head * kvHeads) / heads);
      const addresses = { query: projected + head * headBytes, output: output + head * headBytes };
      this.attendHead(place.mirror, [index, kvHead], addresses, first, count);
    }
  }

  /** New keys and values of the tokens, in memory that the next pass overwrites. */
  newKeyValues(rows: number): NewKeyValues {
    const { memory, model, newRows } = this;
    const count = rows * newRows;
    const numbers = memory[model.kv === 'float' ? 'floats' : 'integers'](this.news, count * model.headDim);
    const scales = { data: memory.floats(this.newScales, count) };
    return new NewKeyValues({ new_kv: { data: numbers }, new_kv_scale: scales }, newRows, 1);
  }

  private attendHead(
    mirror: CacheMirror,
    [layer, head]: readonly [layer: number, head: number],
    { query, output }: { query: number; output: number },
    first: number,
    count: number,
  ): void {
    const { kernels } = this.memory;
    const { headDim } = this.shape;
    const keys = mirror.numbersOf(layer, 0, head);
    const values = mirror.numbersOf(layer, 1, head);
    if (this.model.kv === 'float') {
      kernels.attendFloats(query, keys, values, this.scores, output, first, count, headDim, this.scale);
      return;
    }
    const keyScales = mirror.scalesOf(layer, 0, head);
    const valueScales = mirror.scalesOf(layer, 1, head);
    kernels.attendIntegers(
      query,
      keys,
      keyScales,
      values,
      valueScales,
      this.ones,
      this.scores,
      output,
      first,
      count,
      mirror.capacity,
      headDim,
      this.scale,
    );
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

  /** Writes a new key (part 0) or value (part 1) into the mirror and into the result. */
  private store(
    layer: number,
    part: 0 | 1,
    head: number,
    { row, position, mirror }: TokenPlace,
    source: number,
  ): void {
    const { memory, model } = this;
    const { headDim, kvHeads } = model;
    const newRow = row * this.newRows + (2 * layer + part) * kvHeads + head;
    const target = mirror.numbersOf(layer, part, head);
    if (model.kv === 'float') {
      const floats = memory.allFloats;
      floats.copyWithin(this.news / 4 + newRow * headDim, source / 4, source / 4 + headDim);
      floats.copyWithin(target / 4 + position * headDim, source / 4, source / 4 + headDim);
      return;
    }
    const numbers = this.news + newRow * headDim;
    const scale = memory.kernels.quantizeHead(source, numbers, headDim);
    memory.allFloats[this.newScales / 4 + newRow] = scale;
    memory.allFloats[mirror.scalesOf(layer, part, head) / 4 + position] = scale;
    if (part === 0) memory.kernels.putKey(numbers, target, position, headDim);
    else memory.kernels.putValue(numbers, target, position, headDim, mirror.capacity);
  }
}
