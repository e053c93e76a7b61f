import { Tensor, type InferenceSession } from 'onnxruntime-node';
import { createSession, type SessionSettings } from '#models';
import type { CompiledDecoder } from '#onnx-compiler';
import type { DecoderBackend, ForwardItem, HeldBytes, SequenceOptions } from './decoder-backend.js';
import { DeltaSequence, type SequenceOwner } from '../kv-cache/delta-sequence.js';
import { blockSize, PrefixCache } from '../kv-cache/prefix-cache.js';
import { roundCapacity, SlabGroup } from '../kv-cache/slab-group.js';
import { bytesPerPosition, planesOf, type Plane } from '../kv-cache/slab-layout.js';
import { NewKeyValues, SlabSet } from '../kv-cache/slab-set.js';

export interface DeltaMemory {
  /** Bytes for the keys and values of requests under way. */
  readonly sequenceBytes: number;
  /** Bytes for the beginnings of earlier prompts. */
  readonly prefixBytes: number;
}

type DeltaItem = ForwardItem<DeltaSequence>;

/** A row of a run: where its new keys and values go, and which of its tokens are real. */
interface RunRow {
  readonly sequence: DeltaSequence;
  readonly tokens: readonly number[];
  readonly logits: number;
}

interface Run {
  readonly slabs: SlabSet;
  readonly firstSlot: number;
  readonly rows: readonly RunRow[];
}

/** Lengths up to 512, 2,048, 8,192, … advance together, so that one long sequence does not slow many short ones. */
function lengthClass(positions: number): number {
  return Math.max(0, Math.ceil(Math.log2(positions / 512) / 2));
}

/**
 * Runs a compiled decoder over keys and values that live here: the graph reads them in place and returns only the
 * new ones. Prompts go in alone, by blocks; answers advance in groups.
 */
export class DeltaBackend implements DecoderBackend<DeltaSequence>, SequenceOwner {
  readonly maxBatch = Number.POSITIVE_INFINITY;
  readonly prefillChunk = blockSize;
  readonly maxDrafts = 15;
  private readonly planes: readonly Plane[];
  private readonly prefixes: PrefixCache;
  private readonly groups = new Map<string, SlabGroup>();
  private readonly alone = new Set<DeltaSequence>();

  private constructor(
    private readonly session: InferenceSession,
    private readonly model: CompiledDecoder,
    private readonly memory: DeltaMemory,
    readonly name: string,
  ) {
    this.planes = planesOf(model);
    this.prefixes = new PrefixCache(this.planes, memory.prefixBytes);
  }

  static async load(
    model: CompiledDecoder,
    settings: SessionSettings,
    memory: DeltaMemory,
  ): Promise<DeltaBackend> {
    const { session, backend } = await createSession(model.onnxPath, settings);
    return new DeltaBackend(session, model, memory, backend);
  }

  /** Measured: with int8 the lead of the likeliest token shrinks by up to 0.2 of a logit (docs/decisions/0214). */
  get draftMargin(): number {
    return this.model.weights === 'fp32' && this.model.kv === 'float' ? 0.001 : 0.3;
  }

  get vocabularySize(): number {
    return this.model.vocabularySize;
  }

  get heldBytes(): HeldBytes {
    const groups = [...this.groups.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    const alone = [...this.alone].reduce((sum, { slabs }) => sum + (slabs?.bytes ?? 0), 0);
    return { sequences: groups + alone, prefixes: this.prefixes.bytes };
  }

  hasRoomFor(tokens: number): boolean {
    return this.heldBytes.sequences + tokens * bytesPerPosition(this.model) <= this.memory.sequenceBytes;
  }

  openSequence(prompt: readonly number[], options: SequenceOptions = {}): DeltaSequence {
    const slabs = new SlabSet(this.planes, 1, roundCapacity(prompt.length));
    const sequence = new DeltaSequence(this, prompt, options.speculative ?? false, slabs);
    for (const block of this.prefixes.find(prompt)) {
      slabs.copyFrom({ set: block, slot: 0, start: 0 }, 0, sequence.length, blockSize);
      sequence.length += blockSize;
    }
    this.alone.add(sequence);
    return sequence;
  }

  async prefill(item: DeltaItem): Promise<Float32Array> {
    const { sequence } = item;
    const start = sequence.length;
    const [logits] = await this.run({ slabs: sequence.slabs!, firstSlot: sequence.slot, rows: [item] });
    if (start % blockSize === 0 && item.tokens.length === blockSize) {
      this.prefixes.store(sequence.prompt, start, { set: sequence.slabs!, slot: sequence.slot });
    }
    return logits!;
  }

  async decode(items: readonly DeltaItem[]): Promise<Float32Array[]> {
    const groups = items.map(({ sequence, tokens }) =>
      this.assignGroup(sequence, sequence.length + tokens.length),
    );
    const bySequence = new Map(items.map((item) => [item.sequence, item]));
    const results = new Map<DeltaSequence, Float32Array>();
    for (const group of new Set(groups)) {
      const rows = group.members.map(
        (sequence) => bySequence.get(sequence) ?? { sequence, tokens: [], logits: 0 },
      );
      group.fit(Math.max(...rows.map(({ sequence, tokens }) => sequence.length + tokens.length)));
      const logits = await this.run({ slabs: group.slabs, firstSlot: 0, rows });
      rows.forEach(({ sequence }, index) => results.set(sequence, logits[index]!));
    }
    return items.map(({ sequence }) => results.get(sequence)!);
  }

  fork(sequence: DeltaSequence): DeltaSequence {
    const slabs = new SlabSet(this.planes, 1, roundCapacity(sequence.length));
    const fork = new DeltaSequence(this, sequence.prompt, sequence.speculative, slabs);
    slabs.copyFrom({ set: sequence.slabs!, slot: sequence.slot, start: 0 }, 0, 0, sequence.length);
    fork.length = sequence.length;
    this.alone.add(fork);
    return fork;
  }

  release(sequence: DeltaSequence): void {
    sequence.group?.remove(sequence);
    sequence.slabs = undefined;
    this.alone.delete(sequence);
  }

  dispose(): Promise<void> {
    return this.session.release();
  }

  /** Speculating sequences keep to themselves: a pass over several tokens rounds differently. */
  private assignGroup(sequence: DeltaSequence, positions: number): SlabGroup {
    const key = `${lengthClass(positions)}${sequence.speculative ? ' speculative' : ''}`;
    const group = this.groups.get(key) ?? new SlabGroup(this.planes);
    this.groups.set(key, group);
    if (sequence.group === group) return group;
    group.add(sequence, positions);
    this.alone.delete(sequence);
    return group;
  }

  /** Per row its wanted logits. Shorter rows are padded; what the graph computes for padding is dropped. */
  private async run({ slabs, firstSlot, rows }: Run): Promise<Float32Array[]> {
    const width = Math.max(...rows.map(({ tokens }) => tokens.length));
    const wanted = rows.flatMap(({ tokens, logits }, row) =>
      Array.from({ length: logits }, (_unused, index) => row * width + tokens.length - logits + index),
    );
    const ids = rows.flatMap(({ tokens }) => [...tokens, ...Array<number>(width - tokens.length).fill(0)]);
    const feeds = {
      input_ids: int64(ids, [rows.length, width]),
      past_lengths: int64(
        rows.map(({ sequence }) => sequence.length),
        [rows.length],
      ),
      // The graph needs a position; where none is wanted its logits are not fetched.
      logit_positions: int64(wanted.length > 0 ? wanted : [0], [Math.max(1, wanted.length)]),
      ...slabs.feeds(firstSlot, rows.length),
    };
    const outputs = await this.session.run(feeds, this.fetches(wanted.length > 0));
    const news = new NewKeyValues(outputs, rows.length, width);
    rows.forEach(({ sequence, tokens: { length: count } }, batchRow) => {
      if (count === 0) return;
      slabs.append(news, { batchRow, slot: sequence.slot, start: sequence.length, count });
      sequence.length += count;
    });
    return this.splitLogits(outputs['logits'], rows);
  }

  private fetches(withLogits: boolean): string[] {
    const names = this.model.kv === 'int8' ? ['new_kv', 'new_kv_scale'] : ['new_kv'];
    return withLogits ? ['logits', ...names] : names;
  }

  private splitLogits(logits: Tensor | undefined, rows: readonly RunRow[]): Float32Array[] {
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

function int64(values: readonly number[], dims: readonly number[]): Tensor {
  const data = new BigInt64Array(values.length);
  for (const [index, value] of values.entries()) data[index] = BigInt(value);
  return new Tensor('int64', data, dims);
}
