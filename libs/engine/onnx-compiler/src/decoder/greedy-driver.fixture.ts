import { InferenceSession, Tensor } from 'onnxruntime-node';
import type { CompiledDecoder } from './compile-decoder.js';

/**
 * The cache tensors of one layer. Keys of an int8 cache have positions last, so that the graph need not transpose them.
 */
interface LayerCache {
  readonly key: Float32Array | Int8Array;
  readonly value: Float32Array | Int8Array;
}

/** New tokens of every sequence of a batch, padded at the end to the same number. */
export interface Step {
  readonly tokens: readonly (readonly number[])[];
  /** Positions, within each sequence's new tokens, whose logits are requested. */
  readonly wanted: readonly (readonly number[])[];
}

const int64 = (values: readonly number[], dims: readonly number[]): Tensor =>
  new Tensor('int64', BigInt64Array.from(values, BigInt), dims);

/**
 * A minimal driver of a compiled decoder: a KV cache for `batch` sequences of up to `capacity` positions, and
 * `step`, which runs new tokens and appends the new keys and values. It is an example of the contract at
 * CompiledDecoder; a scheduler adds admission, growth and swapping.
 */
export class GreedyDriver {
  /** Valid positions of each sequence. */
  readonly lengths: number[];
  private readonly caches: LayerCache[];
  /** `[batch, 2 × layers × kvHeads, capacity]`; empty for a float cache. */
  private readonly scales: Float32Array;

  constructor(
    private readonly session: InferenceSession,
    private readonly model: CompiledDecoder,
    private readonly batch: number,
    private readonly capacity: number,
  ) {
    const { kvHeads, headDim, kv } = model;
    const positions = batch * kvHeads * capacity;
    const cache = (): Float32Array | Int8Array =>
      kv === 'int8' ? new Int8Array(positions * headDim) : new Float32Array(positions * headDim);
    this.scales = new Float32Array(kv === 'int8' ? 2 * model.layers * positions : 0);
    this.lengths = Array.from({ length: batch }, () => 0);
    this.caches = Array.from({ length: model.layers }, () => ({
      key: cache(),
      value: cache(),
    }));
  }

  /** Runs the new tokens; returns one row of logits for each requested position, sequence by sequence. */
  async step({ tokens, wanted }: Step): Promise<Float32Array[]> {
    const width = Math.max(...tokens.map((row) => row.length));
    const padded = tokens.flatMap((row) => [...row, ...Array<number>(width - row.length).fill(row[0] ?? 0)]);
    const rows = wanted.flatMap((positions, sequence) =>
      positions.map((position) => sequence * width + position),
    );
    const outputs = await this.session.run({
      input_ids: int64(padded, [this.batch, width]),
      past_lengths: int64(this.lengths, [this.batch]),
      logit_positions: int64(rows, [rows.length]),
      ...this.pastFeeds(),
    });
    const counts = tokens.map((row) => row.length);
    this.append(outputs['new_kv']!, outputs['new_kv_scale'], counts, width);
    counts.forEach((count, sequence) => (this.lengths[sequence]! += count));
    const logits = outputs['logits']!.data as Float32Array;
    const { vocabularySize } = this.model;
    return rows.map((_, row) => logits.slice(row * vocabularySize, (row + 1) * vocabularySize));
  }

  private pastFeeds(): Record<string, Tensor> {
    const { kvHeads, headDim, kv } = this.model;
    const { batch, capacity } = this;
    const type = kv === 'int8' ? 'int8' : 'float32';
    const keyDims = kv === 'int8' ? [batch, kvHeads, headDim, capacity] : [batch, kvHeads, capacity, headDim];
    const feeds: Record<string, Tensor> = {};
    if (kv === 'int8') {
      const dims = [batch, 2 * this.caches.length * kvHeads, 1, capacity];
      feeds['past_scales'] = new Tensor('float32', this.scales, dims);
    }
    for (const [layer, { key, value }] of this.caches.entries()) {
      const name = `past_key_values.${layer}`;
      feeds[`${name}.key`] = new Tensor(type, key, keyDims);
      feeds[`${name}.value`] = new Tensor(type, value, [batch, kvHeads, capacity, headDim]);
    }
    return feeds;
  }

  /** Appends `new_kv` `[batch, 2 × layers × kvHeads, width, headDim]` to each sequence; padding is dropped. */
  private append(
    newKv: Tensor,
    newScale: Tensor | undefined,
    counts: readonly number[],
    width: number,
  ): void {
    const { kvHeads, headDim } = this.model;
    const data = newKv.data as Float32Array | Int8Array;
    const scales = newScale?.data as Float32Array | undefined;
    const planes = 2 * this.caches.length;
    for (const [layer, caches] of this.caches.entries())
      for (const [part, name] of (['key', 'value'] as const).entries())
        for (const [sequence, count] of counts.entries())
          for (let head = 0; head < kvHeads; head++)
            for (let token = 0; token < count; token++) {
              const newHead = (sequence * planes + layer * 2 + part) * kvHeads + head;
              const row = newHead * width + token;
              const place = { row: sequence * kvHeads + head, position: this.lengths[sequence]! + token };
              this.write(caches, name, data.subarray(row * headDim, (row + 1) * headDim), place);
              if (scales) this.scales[newHead * this.capacity + place.position] = scales[row]!;
            }
  }

  private write(
    caches: LayerCache,
    part: 'key' | 'value',
    vector: Float32Array | Int8Array,
    { row, position }: { row: number; position: number },
  ): void {
    const { headDim, kv } = this.model;
    if (kv === 'float' || part === 'value') {
      caches[part].set(vector, (row * this.capacity + position) * headDim);
      return;
    }
    for (let dim = 0; dim < headDim; dim++)
      caches.key[(row * headDim + dim) * this.capacity + position] = vector[dim]!;
  }
}

/** Index of the largest logit; the first of equals. */
export function largest(logits: Float32Array): number {
  let best = 0;
  for (let token = 1; token < logits.length; token++) if (logits[token]! > logits[best]!) best = token;
  return best;
}

/** Prefill and greedy decoding of a batch of prompts of any lengths: `count` new tokens for each. */
export async function decodeGreedily(
  session: InferenceSession,
  model: CompiledDecoder,
  prompts: readonly (readonly number[])[],
  count: number,
): Promise<number[][]> {
  const longest = Math.max(...prompts.map((prompt) => prompt.length));
  const capacity = Math.ceil((longest + count) / 128) * 128;
  const driver = new GreedyDriver(session, model, prompts.length, capacity);
  const last = prompts.map((prompt) => [prompt.length - 1]);
  let rows = await driver.step({ tokens: prompts, wanted: last });
  const answers = rows.map((row) => [largest(row)]);
  while (answers[0]!.length < count) {
    const tokens = answers.map((answer) => [answer.at(-1)!]);
    rows = await driver.step({ tokens, wanted: prompts.map(() => [0]) });
    rows.forEach((row, sequence) => answers[sequence]!.push(largest(row)));
  }
  return answers;
}
