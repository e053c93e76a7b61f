import { setImmediate } from 'node:timers/promises';
import { type InferenceSession, Tensor } from 'onnxruntime-node';
import { createSession, freeTensor, int64Tensor, type SessionSettings } from '#engine/models';
import type { CompiledDecoder } from '#engine/onnx-compiler';
import type { DecoderBackend, ForwardItem, HeldBytes, SequenceOptions } from '../decoder-backend.js';
import {
  KvSequence,
  type SequenceOwner,
  roundCapacity,
  KvCacheBatch,
  bytesPerPosition,
  cacheTensorsOf,
  type CacheTensor,
  NewKeyValues,
  KvCache,
} from '../kv-cache/kv-cache.js';
import type { CacheMemory } from '../generator-interface.js';
import { blockSize, PrefixCache } from '../kv-cache/prefix-cache.js';
import type { KernelDecoder } from '../kernel-decoder/kernel-decoder.js';

type KvItem = ForwardItem<KvSequence>;

interface Run {
  readonly cache: KvCache;
  readonly firstSlot: number;
  /** One row of the batch each; rows without tokens only take part. */
  readonly rows: readonly KvItem[];
}

/** A pass over rows of a batch, by the kernels or by the graph. */
type Pass = Omit<Run, 'cache'> & { readonly isByKernels: boolean };

/**
 * Sequences of up to 512, 2,048, 8,192, … positions form separate batches, so that one long sequence does not slow
 * many short ones.
 */
function lengthClass(positions: number): number {
  return Math.max(0, Math.ceil(Math.log2(positions / 512) / 2));
}

/**
 * Runs a compiled decoder over a KV cache in this process: the graph reads the cache in place and returns only the
 * new keys and values. Prompts run alone, in blocks; completions advance in batches.
 */
export class CompiledOnnxBackend implements DecoderBackend<KvSequence>, SequenceOwner {
  readonly maxBatch = Number.POSITIVE_INFINITY;
  readonly prefillChunk = blockSize;
  readonly maxDrafts = 15;
  private readonly tensors: readonly CacheTensor[];
  private readonly prefixes: PrefixCache;
  private readonly groups = new Map<string, KvCacheBatch>();
  private readonly alone = new Set<KvSequence>();
  /** The logits of the last run; the caller may read them until the next one. */
  private lastLogits?: Tensor;

  private constructor(
    private readonly session: InferenceSession,
    private readonly model: CompiledDecoder,
    private readonly memory: CacheMemory,
    readonly name: string,
    private readonly kernels?: KernelDecoder,
  ) {
    this.tensors = cacheTensorsOf(model);
    this.prefixes = new PrefixCache(this.tensors, memory.prefixBytes);
  }

  /** `kernels` computes passes over few tokens; without it the graph does. */
  static async load(
    model: CompiledDecoder,
    settings: SessionSettings,
    memory: CacheMemory,
    kernels?: KernelDecoder,
  ): Promise<CompiledOnnxBackend> {
    try {
      const { session, backend } = await createSession(model.onnxPath, settings);
      return new CompiledOnnxBackend(session, model, memory, backend, kernels);
    } catch (error) {
      kernels?.close();
      throw error;
    }
  }

  /** Measured: with int8 the lead of the most likely token shrinks by up to 0.2 (docs/design/generation.md). */
  get draftMargin(): number {
    return this.model.weights === 'fp32' && this.model.kv === 'float' ? 0.001 : 0.3;
  }

  get takesImages(): boolean {
    return this.model.imageSize !== undefined;
  }

  get vocabularySize(): number {
    return this.model.vocabularySize;
  }

  get heldBytes(): HeldBytes {
    const groups = [...this.groups.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    const alone = [...this.alone].reduce((sum, { cache }) => sum + (cache?.bytes ?? 0), 0);
    return { sequences: groups + alone, prefixes: this.prefixes.bytes };
  }

  hasRoomFor(tokens: number): boolean {
    return this.heldBytes.sequences + tokens * bytesPerPosition(this.model) <= this.memory.sequenceBytes;
  }

  openSequence(prompt: readonly number[], options: SequenceOptions = {}): KvSequence {
    const cache = new KvCache(this.tensors, 1, roundCapacity(prompt.length));
    const sequence = new KvSequence(this, prompt, options, cache);
    for (const block of this.prefixes.find(sequence.keys)) {
      cache.copyFrom({ set: block, slot: 0, start: 0 }, 0, sequence.length, blockSize);
      sequence.length += blockSize;
    }
    this.alone.add(sequence);
    return sequence;
  }

  async prefill(item: KvItem): Promise<Float32Array> {
    const { sequence } = item;
    const start = sequence.length;
    const [logits] = await this.run({ cache: sequence.cache!, firstSlot: sequence.slot, rows: [item] });
    if (start % blockSize === 0 && item.tokens.length === blockSize) {
      this.prefixes.store(sequence.keys, start, { set: sequence.cache!, slot: sequence.slot });
    }
    return logits!;
  }

  async decode(items: readonly KvItem[]): Promise<Float32Array[]> {
    const groups = items.map(({ sequence, tokens }) =>
      this.assignGroup(sequence, sequence.length + tokens.length),
    );
    const bySequence = new Map(items.map((item) => [item.sequence, item]));
    const results = new Map<KvSequence, Float32Array>();
    const different = new Set(groups);
    for (const group of different) {
      const rows = group.members.map(
        (sequence) => bySequence.get(sequence) ?? { sequence, tokens: [], logits: 0 },
      );
      group.fit(Math.max(...rows.map(({ sequence, tokens }) => sequence.length + tokens.length)));
      const passes = this.passesOf(rows);
      for (const { rows: taken, firstSlot, isByKernels } of passes) {
        const logits = isByKernels
          ? await this.runFewTokens(group.cache, taken)
          : await this.run({ cache: group.cache, firstSlot, rows: taken });
        // A pass ends the logits of the one before.
        const isOnly = different.size === 1 && passes.length === 1;
        taken.forEach(({ sequence, tokens }, index) => {
          if (tokens.length > 0) results.set(sequence, isOnly ? logits[index]! : logits[index]!.slice());
        });
      }
    }
    return items.map(({ sequence }) => results.get(sequence)!);
  }

  fork(sequence: KvSequence): KvSequence {
    const cache = new KvCache(this.tensors, 1, roundCapacity(sequence.length));
    const fork = new KvSequence(this, sequence.prompt, sequence.options, cache);
    cache.copyFrom({ set: sequence.cache!, slot: sequence.slot, start: 0 }, 0, 0, sequence.length);
    fork.length = sequence.length;
    this.alone.add(fork);
    return fork;
  }

  release(sequence: KvSequence): void {
    sequence.group?.remove(sequence);
    sequence.cache = undefined;
    this.alone.delete(sequence);
    this.kernels?.forget(sequence);
  }

  dispose(): Promise<void> {
    this.kernels?.close();
    return this.session.release();
  }

  /**
   * Speculative sequences have batches of their own, because a pass over several tokens rounds differently, and repeatable
   * ones, because the kernels compute them.
   */
  private assignGroup(sequence: KvSequence, positions: number): KvCacheBatch {
    const { speculative, repeatable } = sequence.options;
    const key = [lengthClass(positions), speculative && 'speculative', repeatable && 'repeatable'].join(' ');
    const group = this.groups.get(key) ?? new KvCacheBatch(this.tensors);
    this.groups.set(key, group);
    if (sequence.group === group) return group;
    group.add(sequence, positions);
    this.alone.delete(sequence);
    return group;
  }

  /**
   * Divides the rows of a batch into passes of the kernels and of the graph, which sum in another order. For a repeatable
   * sequence the choice depends on its length and its tokens only, for others the faster one is taken. Several tokens
   * of a repeatable sequence have a pass of their own: the threads of the graph divide its values by their number.
   */
  private passesOf(rows: readonly KvItem[]): Pass[] {
    const { kernels } = this;
    const active = rows.filter(({ tokens }) => tokens.length > 0);
    if (!active.some(({ sequence }) => sequence.options.repeatable)) {
      const isByKernels = kernels?.takes(active) ?? false;
      return [{ rows: isByKernels ? active : rows, firstSlot: 0, isByKernels }];
    }
    const short = active.filter((item) => kernels?.canTake(item));
    const single = rows.map((item) =>
      item.tokens.length === 1 && !short.includes(item) ? item : { ...item, tokens: [], logits: 0 },
    );
    const passes = [
      { rows: short, firstSlot: 0, isByKernels: true },
      { rows: single, firstSlot: 0, isByKernels: false },
      ...active
        .filter(({ tokens }) => tokens.length > 1)
        .map((item) => ({ rows: [item], firstSlot: item.sequence.slot, isByKernels: false })),
    ];
    return passes.filter((pass) => pass.rows.some(({ tokens }) => tokens.length > 0));
  }

  /** Messages of the thread are handled before the pass, since it keeps the thread busy. */
  private async runFewTokens(cache: KvCache, items: readonly KvItem[]): Promise<Float32Array[]> {
    await setImmediate();
    const all: Float32Array[] = [];
    this.kernels!.decodeAll(items, (pass, { logits, news }) => {
      pass.forEach(({ sequence }, batchRow) => {
        cache.append(news, { batchRow, slot: sequence.slot, start: sequence.length, count: 1 });
        sequence.length += 1;
      });
      // The next pass overwrites them.
      all.push(...(pass.length < items.length ? logits.map((each) => each.slice()) : logits));
    });
    return all;
  }

  /** Returns the requested logits of each row. Shorter rows are padded; results for padding are dropped. */
  private async run({ cache, firstSlot, rows }: Run): Promise<Float32Array[]> {
    const width = Math.max(...rows.map(({ tokens }) => tokens.length));
    const wanted = rows.flatMap(({ tokens, logits }, row) =>
      Array.from({ length: logits }, (_unused, index) => row * width + tokens.length - logits + index),
    );
    const ids = rows.flatMap(({ tokens }) => [...tokens, ...Array<number>(width - tokens.length).fill(0)]);
    const feeds = {
      input_ids: int64Tensor(ids, [rows.length, width]),
      past_lengths: int64Tensor(
        rows.map(({ sequence }) => sequence.length),
        [rows.length],
      ),
      // The graph needs at least one position; if none is requested, `logits` is not fetched.
      logit_positions: int64Tensor(wanted.length > 0 ? wanted : [0], [Math.max(1, wanted.length)]),
      ...cache.feeds(firstSlot, rows.length),
      ...this.imageFeeds(rows, width),
    };
    if (this.lastLogits) freeTensor(this.lastLogits);
    const outputs = await this.session.run(feeds, this.fetches(wanted.length > 0));
    const { logits, ...newTensors } = outputs;
    this.lastLogits = logits;
    const news = new NewKeyValues(newTensors, 2 * this.model.layers * this.model.kvHeads, width);
    rows.forEach(({ sequence, tokens: { length: count } }, batchRow) => {
      if (count === 0) return;
      cache.append(news, { batchRow, slot: sequence.slot, start: sequence.length, count });
      sequence.length += count;
    });
    for (const tensor of Object.values(newTensors)) freeTensor(tensor);
    return this.splitLogits(logits, rows);
  }

  /** Inputs of a vision-language model: the embeddings of the tokens of a pass that are parts of images. */
  private imageFeeds(rows: readonly KvItem[], width: number): Record<string, Tensor> {
    const { imageSize } = this.model;
    if (imageSize === undefined) return {};
    const positions: number[] = [];
    const vectors: Float32Array[] = [];
    rows.forEach(({ sequence, tokens }, row) => {
      const replaced = sequence.options.images?.within(sequence.length, tokens.length);
      for (const offset of replaced?.offsets ?? []) positions.push(row * width + offset);
      vectors.push(...(replaced?.vectors ?? []));
    });
    const embeddings = new Float32Array(vectors.length * imageSize);
    vectors.forEach((vector, index) => embeddings.set(vector, index * imageSize));
    return {
      image_positions: int64Tensor(positions, [positions.length]),
      image_embeddings: new Tensor('float32', embeddings, [vectors.length, imageSize]),
    };
  }

  private fetches(withLogits: boolean): string[] {
    const names = this.model.kv === 'int8' ? ['new_kv', 'new_kv_scale'] : ['new_kv'];
    return withLogits ? ['logits', ...names] : names;
  }

  private splitLogits(logits: Tensor | undefined, rows: readonly KvItem[]): Float32Array[] {
    const values = (logits?.data ?? new Float32Array(0)) as Float32Array;
    let start = 0;
    return rows.map((row) => {
      const end = start + row.logits * this.vocabularySize;
      const part = values.subarray(start, end);
      start = end;
      return part;
    });
  }
}
