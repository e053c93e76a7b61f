import type { CompiledDecoder } from '#engine/onnx-compiler';
import type { KvSequence } from '../kv-cache/kv-cache.js';
import type { KernelMemory } from './kernels.js';

/** Rows of positions are packed in blocks of this many. */
const positionsOfBlock = 8;

/**
 * The keys and values of one sequence in the memory of the kernels. It follows the sequence's own cache, which the graph
 * reads and extends.
 */
export class CacheMirror {
  /** Address of the numbers of key 0, value 0, key 1, …; each with all heads. */
  private readonly numbers: number;
  /** Address of the scales of an int8 cache in the same order. */
  private readonly scales: number;
  owner?: KvSequence;
  /** Number of the last pass that used it. */
  lastPass = 0;

  /** @param scratch Address of `capacity` × headDim bytes. @param capacity A multiple of 64. */
  constructor(
    private readonly model: CompiledDecoder,
    readonly capacity: number,
    private readonly scratch: number,
    private readonly memory: KernelMemory,
  ) {
    this.numbers = memory.allocate(2 * model.layers * this.partBytes);
    this.scales = memory.allocate(2 * model.layers * model.kvHeads * capacity * 4);
  }

  /** Address of the keys (0) or values (1) of a head; the heads of a layer follow each other. */
  numbersOf(layer: number, part: 0 | 1, head = 0): number {
    return this.numbers + (2 * layer + part) * this.partBytes + head * (this.partBytes / this.model.kvHeads);
  }

  /** Address of the scales of the keys (0) or values (1) of a head; the heads of a layer follow each other. */
  scalesOf(layer: number, part: 0 | 1, head = 0): number {
    return this.scales + this.scaleRow(layer, part, head) * this.capacity * 4;
  }

  /** Copies the positions of a sequence that the mirror lacks; the mirror may have had another one. */
  follow(sequence: KvSequence): void {
    if (this.owner !== sequence) {
      if (this.owner) this.owner.mirrored = 0;
      this.owner = sequence;
      sequence.mirrored = 0;
    }
    if (sequence.mirrored >= sequence.length) return;
    const first = Math.floor(sequence.mirrored / positionsOfBlock) * positionsOfBlock;
    const { layers, kvHeads, kv } = this.model;
    for (let layer = 0; layer < layers; layer++)
      for (let head = 0; head < kvHeads; head++) {
        if (kv === 'float') this.copyFloats(sequence, layer, head, first);
        else this.copyIntegers(sequence, layer, head, first);
      }
    sequence.mirrored = sequence.length;
  }

  private copyFloats(sequence: KvSequence, layer: number, head: number, first: number): void {
    const { headDim } = this.model;
    for (const part of [0, 1] as const) {
      const source = sequence.cache!.row(2 * layer + part, sequence.slot, head) as Float32Array;
      const target = this.memory.floats(this.numbersOf(layer, part, head), this.capacity * headDim);
      target.set(source.subarray(first * headDim, sequence.length * headDim), first * headDim);
    }
  }

  private copyIntegers(sequence: KvSequence, layer: number, head: number, first: number): void {
    const { headDim, layers } = this.model;
    const { cache, slot, length } = sequence;
    const count = length - first;
    const scratch = this.memory.integers(this.scratch, this.capacity * headDim);
    // Keys are stored dimension after dimension, values position after position.
    for (let dimension = 0; dimension < headDim; dimension++) {
      const source = cache!.row(2 * layer, slot, head * headDim + dimension) as Int8Array;
      scratch.set(source.subarray(first, length), dimension * count);
    }
    const keys = this.numbersOf(layer, 0, head) + first * headDim;
    this.memory.kernels.packCache(this.scratch, keys, 0, headDim, count, count, headDim);
    const values = cache!.row(2 * layer + 1, slot, head) as Int8Array;
    scratch.set(values.subarray(first * headDim, length * headDim));
    const target = this.numbersOf(layer, 1, head);
    this.memory.kernels.packCache(this.scratch, target, first, count, headDim, headDim, this.capacity);
    for (const part of [0, 1] as const) {
      const row = cache!.row(2 * layers, slot, this.scaleRow(layer, part, head)) as Float32Array;
      const scales = this.memory.floats(this.scalesOf(layer, part, head), this.capacity);
      scales.set(row.subarray(first, length), first);
    }
  }

  private get partBytes(): number {
    const { kvHeads, headDim, kv } = this.model;
    return this.capacity * kvHeads * headDim * (kv === 'float' ? 4 : 1);
  }

  private scaleRow(layer: number, part: number, head: number): number {
    return (2 * layer + part) * this.model.kvHeads + head;
  }
}

/**
 * A mirror that was used within this many passes is not given to another sequence: two sequences would take it from each
 * other, and copy their caches for every token.
 */
const recentPasses = 32;

/** Mirrors of up to `count` sequences, which take memory when they are first used. */
export class CacheMirrors {
  private readonly mirrors: CacheMirror[] = [];
  private readonly scratch: number;
  private passes = 0;

  constructor(
    private readonly model: CompiledDecoder,
    readonly capacity: number,
    private count: number,
    private readonly memory: KernelMemory,
  ) {
    // Packing reads up to seven positions, and three bytes, behind those that it needs.
    this.scratch = memory.allocate((capacity + positionsOfBlock) * model.headDim);
  }

  /** Makes mirrors for up to `wanted` sequences of a pass. Returns their number, which the memory limits. */
  makeRoom(wanted: number): number {
    while (this.mirrors.length < wanted && this.create());
    return Math.min(wanted, this.mirrors.length);
  }

  /** Reserves a mirror for each of these sequences. Returns false if there are too few for all of them. */
  reserve(sequences: readonly KvSequence[]): boolean {
    const missing = sequences.filter((sequence) => !this.mirrorOf(sequence)).length;
    const free = this.unused(sequences);
    while (free.length < missing) {
      const mirror = this.create();
      if (!mirror) return false;
      free.push(mirror);
    }
    return true;
  }

  /**
   * Returns the mirrors of sequences for which {@link reserve} returned true, or {@link makeRoom} their number, in their order. The
   * latter may take mirrors of running sequences, whose caches are copied again for their next tokens.
   */
  follow(sequences: readonly KvSequence[]): CacheMirror[] {
    this.passes += 1;
    return sequences.map((sequence) => {
      const mirror =
        this.mirrorOf(sequence) ?? this.unused(sequences)[0] ?? this.create() ?? this.oldest(sequences);
      mirror.follow(sequence);
      mirror.lastPass = this.passes;
      return mirror;
    });
  }

  /** Frees the mirror of a sequence. */
  forget(sequence: KvSequence): void {
    const mirror = this.mirrorOf(sequence);
    if (mirror) mirror.owner = undefined;
  }

  private mirrorOf(sequence: KvSequence): CacheMirror | undefined {
    return this.mirrors.find(({ owner }) => owner === sequence);
  }

  /** Mirrors without a sequence, then those of sequences that have not been used for long. */
  private unused(sequences: readonly KvSequence[]): CacheMirror[] {
    const free = this.mirrors.filter(({ owner }) => !owner);
    const old = this.mirrors.filter(
      ({ owner, lastPass }) => owner && !sequences.includes(owner) && lastPass < this.passes - recentPasses,
    );
    return [...free, ...old.toSorted((left, right) => left.lastPass - right.lastPass)];
  }

  /** The mirror that has not been used for the longest time. */
  private oldest(sequences: readonly KvSequence[]): CacheMirror {
    const others = this.mirrors.filter(({ owner }) => !owner || !sequences.includes(owner));
    return others.reduce((oldest, mirror) => (mirror.lastPass < oldest.lastPass ? mirror : oldest));
  }

  private create(): CacheMirror | undefined {
    if (this.mirrors.length >= this.count) return undefined;
    try {
      const mirror = new CacheMirror(this.model, this.capacity, this.scratch, this.memory);
      this.mirrors.push(mirror);
      return mirror;
    } catch {
      // The memory cannot grow; the graph computes further sequences.
      this.count = this.mirrors.length;
      return undefined;
    }
  }
}
