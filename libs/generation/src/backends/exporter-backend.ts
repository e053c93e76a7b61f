import { Tensor, type InferenceSession } from 'onnxruntime-node';
import { ModelLoadError, createSession, type SessionSettings, toFloat32 } from '#models';
import type { DecoderConfig } from '#models';
import type { DecoderBackend, DecoderSequence, ForwardItem, HeldBytes } from './decoder-backend.js';

/** Keys and values as one pass returned them; immutable, so that forks share them. Freed when the last one lets go. */
class SharedCache {
  private holders = 1;

  constructor(readonly tensors: Readonly<Record<string, Tensor>>) {}

  share(): this {
    this.holders++;
    return this;
  }

  /** What lies in a device's memory is nothing that the garbage collector knows the size of. */
  letGo(): void {
    if (--this.holders > 0) return;
    for (const tensor of Object.values(this.tensors)) if (tensor.location !== 'cpu') tensor.dispose();
  }
}

class ExporterSequence implements DecoderSequence {
  constructor(
    private cache: SharedCache | undefined,
    public length: number,
  ) {}

  /** Empty once it was released. */
  get tensors(): Readonly<Record<string, Tensor>> {
    return this.cache?.tensors ?? {};
  }

  /** What a pass over so many tokens more returned takes the place of what there was. */
  append(tokens: number, tensors: Readonly<Record<string, Tensor>>): void {
    const appended = new SharedCache(tensors);
    const isOpen = this.cache !== undefined;
    this.release();
    if (isOpen) this.cache = appended;
    else appended.letGo();
    this.length += tokens;
  }

  fork(): ExporterSequence {
    return new ExporterSequence(this.cache?.share(), this.length);
  }

  release(): void {
    this.cache?.letGo();
    this.cache = undefined;
  }
}

/** Numbers of logits that are worth a copy rather than a pass of its own for the last token. */
const copiedLogits = 1 << 20;

/**
 * Runs a graph as exporters write it: `past_key_values.N.key/value` in, `present.N.key/value` out, one sequence at a
 * time. It suits every model of the hub; on the processor the copies of the cache make it slow on long contexts, on
 * WebGPU the cache stays in the memory of the device.
 */
export class ExporterBackend implements DecoderBackend<ExporterSequence> {
  readonly maxBatch = 1;
  readonly prefillChunk = 512;
  readonly maxDrafts = 0;
  readonly draftMargin = 0;

  private constructor(
    private readonly session: InferenceSession,
    private readonly config: DecoderConfig,
    readonly name: string,
  ) {}

  /** Throws ModelLoadError when the graph has no key-value cache of this kind. */
  static async load(
    onnxFile: string,
    config: DecoderConfig,
    settings: SessionSettings,
  ): Promise<ExporterBackend> {
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
    return new ExporterBackend(session, config, backend);
  }

  get vocabularySize(): number {
    return this.config.vocabularySize;
  }

  /** Unknown: the cache lives in the runtime's own memory. */
  get heldBytes(): HeldBytes {
    return { sequences: 0, prefixes: 0 };
  }

  /** The cache lives in the runtime's own memory; only the number of answers limits it. */
  hasRoomFor(): boolean {
    return true;
  }

  openSequence(): ExporterSequence {
    const { keyValueHeads, headDimension } = this.config;
    const cache: Record<string, Tensor> = {};
    for (const name of cacheNames('past_key_values', this.config)) {
      cache[name] = emptyTensor(this.typeOf(name), [1, keyValueHeads, 0, headDimension]);
    }
    return new ExporterSequence(new SharedCache(cache), 0);
  }

  prefill(item: ForwardItem<ExporterSequence>): Promise<Float32Array> {
    return this.append(item);
  }

  async decode(items: readonly ForwardItem<ExporterSequence>[]): Promise<Float32Array[]> {
    const results: Float32Array[] = [];
    for (const item of items) results.push(await this.append(item));
    return results;
  }

  dispose(): Promise<void> {
    return this.session.release();
  }

  private async append({ sequence, tokens, logits }: ForwardItem<ExporterSequence>): Promise<Float32Array> {
    const unwanted = tokens.length - logits;
    // The graph returns the logits of all its tokens; a long prompt's are not worth copying out.
    if (unwanted > 0 && tokens.length * this.vocabularySize > copiedLogits) {
      await this.pass(sequence, tokens.slice(0, unwanted), false);
      return logits > 0 ? this.pass(sequence, tokens.slice(unwanted), true) : new Float32Array(0);
    }
    const all = await this.pass(sequence, tokens, logits > 0);
    return all.subarray(all.length - logits * this.vocabularySize);
  }

  private async pass(
    sequence: ExporterSequence,
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

  private feeds(sequence: ExporterSequence, tokens: readonly number[]): Record<string, Tensor> {
    const total = sequence.length + tokens.length;
    const all: Record<string, Tensor> = {
      ...sequence.tensors,
      input_ids: int64(tokens),
      attention_mask: int64(Array.from({ length: total }, () => 1)),
      position_ids: int64(tokens.map((_token, index) => sequence.length + index)),
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

function int64(values: readonly number[]): Tensor {
  return new Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
}
