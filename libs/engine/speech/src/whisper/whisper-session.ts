import { createSession, int64Tensor, type SessionSettings, type EngineSettings } from '#engine/models';
import { compileWhisper, type CompiledWhisper } from '#engine/onnx-compiler';
import { Tensor, type InferenceSession } from 'onnxruntime-node';
import type { DecodeStep, DecoderRows, WhisperBackend } from './whisper-engine.js';
import type { WhisperSettings } from './whisper-settings.js';

/** A Whisper model compiled from safetensors; all sequences run in a batch. */
export class WhisperSession implements WhisperBackend {
  private readonly cache: WhisperKvCache;

  private constructor(
    readonly model: CompiledWhisper,
    private readonly encoder: InferenceSession,
    private readonly decoder: InferenceSession,
    readonly backend: string,
  ) {
    this.cache = new WhisperKvCache(model);
  }

  /** Compiles and loads the model of a folder. Errors: ModelLoadError, UnsupportedModelError. */
  static async load(
    directory: string,
    { compiledDirectory: cacheDir, weights }: EngineSettings,
    settings: SessionSettings,
    { alignmentHeads }: Pick<WhisperSettings, 'alignmentHeads'>,
  ): Promise<WhisperSession> {
    const model = await compileWhisper(directory, { cacheDir, weights, alignmentHeads });
    const { session: encoder, backend } = await createSession(model.encoderPath, settings);
    const { session: decoder } = await createSession(model.decoderPath, settings);
    return new WhisperSession(model, encoder, decoder, `${backend} compiled ${model.weights}`);
  }

  get hasAlignment(): boolean {
    return this.decoder.outputNames.includes('alignment');
  }

  reserve(slots: number, positions: number): void {
    this.cache.reserve(slots, positions);
  }

  move(from: number, to: number, positions: number): void {
    this.cache.move(from, to, positions);
  }

  async encode(features: Float32Array, slot: number): Promise<void> {
    const { bands, sourcePositions } = this.model;
    const input = new Tensor('float32', features, [1, bands, 2 * sourcePositions]);
    const outputs = await this.encoder.run({ input_features: input });
    const tensors = this.encoder.outputNames.map((name) => outputs[name]!.data as Float32Array);
    this.cache.putAudio(slot, tensors);
  }

  async decode({ first, pasts, tokens, wanted, keep = true }: DecodeStep): Promise<DecoderRows> {
    const width = tokens[0]!.length;
    const outputs = await this.decoder.run({
      input_ids: int64Tensor(tokens.flat(), [tokens.length, width]),
      past_lengths: int64Tensor(pasts, [pasts.length]),
      logit_positions: int64Tensor(wanted, [wanted.length]),
      ...this.cache.feeds(first, tokens.length),
    });
    if (keep) this.cache.append(outputs['new_kv']!, first, pasts);
    const { vocabularySize } = this.model;
    const values = outputs['log_probabilities']!.data as Float32Array;
    const scores = wanted.map((_, row) => values.subarray(row * vocabularySize, (row + 1) * vocabularySize));
    const { alignment } = outputs;
    return { scores, ...(alignment && { alignment: alignmentRows(alignment) }) };
  }

  async close(): Promise<void> {
    await Promise.all([this.encoder.release(), this.decoder.release()]);
  }
}

/** `[batch, heads, tokens, source]` → per token its heads in sequence. */
function alignmentRows({ data, dims }: Tensor): Float32Array[][] {
  const [batch = 0, heads = 0, tokens = 0, source = 0] = dims;
  const values = data as Float32Array;
  return Array.from({ length: batch }, (_, sequence) =>
    Array.from({ length: tokens }, (_unused, token) => {
      const row = new Float32Array(heads * source);
      for (let head = 0; head < heads; head++) {
        const start = ((sequence * heads + head) * tokens + token) * source;
        row.set(values.subarray(start, start + source), head * source);
      }
      return row;
    }),
  );
}

/** Positions are reserved in multiples of this, which keeps the order of sums (see CompiledDecoder). */
const positionStep = 64;

/**
 * KV cache of the sequences in a batch: of their own tokens, and of the audio. Sequences are in slots from 0 on;
 * the memory grows to the maximum that was needed.
 */
class WhisperKvCache {
  private slots = 0;
  private capacity = 0;
  /** Key and value of each layer in turn: `[slots, heads, capacity, headDim]`. */
  private own: Float32Array[] = [];
  /** `[slots, heads, sourcePositions, headDim]`. */
  private audio: Float32Array[] = [];
  private readonly heads: number;
  private readonly headDim: number;

  constructor(private readonly model: CompiledWhisper) {
    this.heads = model.decoder.heads;
    this.headDim = model.hiddenSize / model.decoder.heads;
  }

  /** Reserves memory for `slots` sequences of `positions` positions; existing values are kept. */
  reserve(slots: number, positions: number): void {
    const capacity = Math.max(this.capacity, Math.ceil(positions / positionStep) * positionStep);
    const count = Math.max(this.slots, slots);
    if (capacity === this.capacity && count === this.slots) return;
    const { heads, headDim } = this;
    const tensors = 2 * this.model.decoder.layers;
    const grown = Array.from({ length: tensors }, () => new Float32Array(count * heads * capacity * headDim));
    for (const [plane, before] of this.own.entries())
      for (let row = 0; row < this.slots * heads; row++) {
        const from = before.subarray(row * this.capacity * headDim, (row + 1) * this.capacity * headDim);
        grown[plane]!.set(from, row * capacity * headDim);
      }
    this.own = grown;
    if (count > this.slots)
      this.audio = Array.from({ length: tensors }, (_, plane) => {
        const values = new Float32Array(count * this.audioSize);
        if (this.audio[plane]) values.set(this.audio[plane]);
        return values;
      });
    this.capacity = capacity;
    this.slots = count;
  }

  /** Copies the encoder's output for a window into a slot. */
  putAudio(slot: number, tensors: readonly Float32Array[]): void {
    for (const [plane, values] of tensors.entries()) this.audio[plane]!.set(values, slot * this.audioSize);
  }

  /** Copies a sequence of `positions` positions to another slot. */
  move(from: number, to: number, positions: number): void {
    const { audioSize, capacity, heads, headDim } = this;
    for (const values of this.audio)
      values.copyWithin(to * audioSize, from * audioSize, (from + 1) * audioSize);
    const row = capacity * headDim;
    for (const values of this.own)
      for (let head = 0; head < heads; head++) {
        const start = (from * heads + head) * row;
        values.copyWithin((to * heads + head) * row, start, start + positions * headDim);
      }
  }

  /** Returns the inputs of a run over `count` slots from `first` on, without a copy. */
  feeds(first: number, count: number): Record<string, Tensor> {
    const { heads, headDim, capacity, audioSize } = this;
    const ownSize = heads * capacity * headDim;
    const feeds: Record<string, Tensor> = {};
    for (let plane = 0; plane < this.own.length; plane++) {
      const name = `${plane >> 1}.${plane % 2 ? 'value' : 'key'}`;
      const own = this.own[plane]!.subarray(first * ownSize, (first + count) * ownSize);
      const audio = this.audio[plane]!.subarray(first * audioSize, (first + count) * audioSize);
      feeds[`past_key_values.${name}`] = new Tensor('float32', own, [count, heads, capacity, headDim]);
      const dims = [count, heads, this.model.sourcePositions, headDim];
      feeds[`cross.${name}`] = new Tensor('float32', audio, dims);
    }
    return feeds;
  }

  /** Appends `new_kv` of a run from slot `first` on to each sequence. */
  append(newKv: Tensor, first: number, pasts: readonly number[]): void {
    const { heads, headDim, capacity } = this;
    const values = newKv.data as Float32Array;
    const width = newKv.dims[2]! * headDim;
    const planes = this.own.length;
    for (let plane = 0; plane < planes; plane++)
      for (const [index, past] of pasts.entries())
        for (let head = 0; head < heads; head++) {
          const from = ((index * planes + plane) * heads + head) * width;
          const to = (((first + index) * heads + head) * capacity + past) * headDim;
          this.own[plane]!.set(values.subarray(from, from + width), to);
        }
  }

  private get audioSize(): number {
    return this.heads * this.model.sourcePositions * this.headDim;
  }
}
