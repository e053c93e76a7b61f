import { Tensor, type InferenceSession } from 'onnxruntime-node';
import {
  ModelLoadError,
  createSession,
  freeTensor,
  int64Tensor,
  type SessionSettings,
  toFloat32,
  type DecoderConfig,
} from '#engine/models';
import type { DecoderBackend, DecoderSequence, ForwardItem, HeldBytes } from '../decoder-backend.js';

/** The KV cache that one pass returned. It is immutable and shared by forks; the last `release` frees it. */
class SharedCache {
  private references = 1;

  constructor(readonly tensors: Readonly<Record<string, Tensor>>) {}

  share(): this {
    this.references++;
    return this;
  }

  /**
   * Frees the memory with the last reference: the garbage collector does not know the size of tensors in device memory, and
   * marks the whole heap too often for those in main memory.
   */
  drop(): void {
    if (--this.references > 0) return;
    for (const tensor of Object.values(this.tensors)) freeTensor(tensor);
  }
}

class ExportedSequence implements DecoderSequence {
  constructor(
    private cache: SharedCache | undefined,
    public length: number,
  ) {}

  /** Empty after `release`. */
  get tensors(): Readonly<Record<string, Tensor>> {
    return this.cache?.tensors ?? {};
  }

  /** Replaces the cache by the one that a pass over `tokens` further tokens returned. */
  append(tokens: number, tensors: Readonly<Record<string, Tensor>>): void {
    const appended = new SharedCache(tensors);
    const isOpen = this.cache !== undefined;
    this.release();
    if (isOpen) this.cache = appended;
    else appended.drop();
    this.length += tokens;
  }

  fork(): ExportedSequence {
    return new ExportedSequence(this.cache?.share(), this.length);
  }

  release(): void {
    this.cache?.drop();
    this.cache = undefined;
  }
}

/** Maximum number of logits that are copied at once; above it the last token gets a pass of its own. */
const copiedLogits = 1 << 20;

/**
 * Runs a graph with the inputs and outputs that exporters write: `past_key_values.N.key/value` in,
 * `present.N.key/value` out, one sequence at a time. It supports every exported model. On the CPU it copies the
 * cache with each token, which is slow for long contexts; on WebGPU the cache stays in device memory.
 */
export class ExportedOnnxBackend implements DecoderBackend<ExportedSequence> {
  readonly maxBatch = 1;
  readonly prefillChunk = 512;
  readonly maxDrafts = 0;
  readonly takesImages = false;
  readonly draftMargin = 0;

  private constructor(
    private readonly session: InferenceSession,
    private readonly config: DecoderConfig,
    readonly name: string,
  ) {}

  /** Loads a graph. Errors: ModelLoadError if the graph has no such KV cache. */
  static async load(
    onnxFile: string,
    config: DecoderConfig,
    settings: SessionSettings,
  ): Promise<ExportedOnnxBackend> {
    const keptOnDevice = [...cacheNames('present', config)];
    const { session, backend } = await createSession(onnxFile, { ...settings, keptOnDevice });
    const missing = [...cacheNames('past_key_values', config)].find(
      (name) => !session.inputNames.includes(name),
    );
    if (missing) {
      throw new ModelLoadError(
        `${onnxFile} has no input ${missing}; a decoder exported with a cache is needed.`,
      );
    }
    return new ExportedOnnxBackend(session, config, backend);
  }

  get vocabularySize(): number {
    return this.config.vocabularySize;
  }

  /** Unknown: the runtime owns the cache. */
  get heldBytes(): HeldBytes {
    return { sequences: 0, prefixes: 0 };
  }

  /** Always true: the runtime owns the cache, and only `maxAnswers` limits it. */
  hasRoomFor(): boolean {
    return true;
  }

  openSequence(): ExportedSequence {
    const { keyValueHeads, headDimension } = this.config;
    const cache: Record<string, Tensor> = {};
    for (const name of cacheNames('past_key_values', this.config)) {
      cache[name] = emptyTensor(this.typeOf(name), [1, keyValueHeads, 0, headDimension]);
    }
    return new ExportedSequence(new SharedCache(cache), 0);
  }

  prefill(item: ForwardItem<ExportedSequence>): Promise<Float32Array> {
    return this.append(item);
  }

  async decode(items: readonly ForwardItem<ExportedSequence>[]): Promise<Float32Array[]> {
    const results: Float32Array[] = [];
    for (const item of items) results.push(await this.append(item));
    return results;
  }

  dispose(): Promise<void> {
    return this.session.release();
  }

  private async append({ sequence, tokens, logits }: ForwardItem<ExportedSequence>): Promise<Float32Array> {
    const unwanted = tokens.length - logits;
    // The graph returns the logits of all its tokens; copying the logits of a long prompt would take too long.
    if (unwanted > 0 && tokens.length * this.vocabularySize > copiedLogits) {
      await this.pass(sequence, tokens.slice(0, unwanted), false);
      return logits > 0 ? this.pass(sequence, tokens.slice(unwanted), true) : new Float32Array(0);
    }
    const all = await this.pass(sequence, tokens, logits > 0);
    return all.subarray(all.length - logits * this.vocabularySize);
  }

  private async pass(
    sequence: ExportedSequence,
    tokens: readonly number[],
    wantsLogits: boolean,
  ): Promise<Float32Array> {
    const presents = [...cacheNames('present', this.config)];
    const outputs = await this.session.run(
      this.feeds(sequence, tokens),
      wantsLogits ? ['logits', ...presents] : presents,
    );
    const cache = presents.map(
      (name) => [name.replace('present', 'past_key_values'), outputs[name]!] as const,
    );
    sequence.append(tokens.length, Object.fromEntries(cache));
    return wantsLogits ? toFloat32(outputs['logits']!) : new Float32Array(0);
  }

  private feeds(sequence: ExportedSequence, tokens: readonly number[]): Record<string, Tensor> {
    const total = sequence.length + tokens.length;
    const all: Record<string, Tensor> = {
      ...sequence.tensors,
      input_ids: int64Tensor(tokens, [1, tokens.length]),
      attention_mask: int64Tensor(Array<number>(total).fill(1), [1, total]),
      position_ids: int64Tensor(
        tokens.map((_token, index) => sequence.length + index),
        [1, tokens.length],
      ),
    };
    if (this.session.inputNames.includes('use_cache_branch')) {
      all['use_cache_branch'] = new Tensor('bool', [sequence.length > 0], [1]);
    }
    return Object.fromEntries(Object.entries(all).filter(([name]) => this.session.inputNames.includes(name)));
  }

  private typeOf(name: string): string {
    const metadata = this.session.inputMetadata.find((input) => input.name === name);
    return metadata?.isTensor ? metadata.type : 'float32';
  }
}

function* cacheNames(prefix: string, config: DecoderConfig): Generator<string> {
  for (let layer = 0; layer < config.layers; layer++) {
    yield `${prefix}.${layer}.key`;
    yield `${prefix}.${layer}.value`;
  }
}

function emptyTensor(type: string, dims: readonly number[]): Tensor {
  if (type === 'float16') return new Tensor('float16', new Uint16Array(0), dims);
  if (type === 'float32') return new Tensor('float32', new Float32Array(0), dims);
  throw new ModelLoadError(`A key-value cache of ${type} is not supported; use float32 or float16.`);
}
