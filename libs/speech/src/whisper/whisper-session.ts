import { Tensor, type InferenceSession } from 'onnxruntime-node';
import { createSession, type SessionSettings, type EngineChoice, type EngineSettings } from '#models';
import { compileWhisper, type CompiledWhisper } from '#onnx-compiler';
import type { DecodeStep, DecoderRows, WhisperBackend } from './whisper-backend.js';
import { WhisperKvCache } from './whisper-kv-cache.js';
import type { WhisperSettings } from './whisper-settings.js';

/** A Whisper model compiled from safetensors; all sequences run in a batch. */
export class WhisperSession implements WhisperBackend {
  private readonly cache: WhisperKvCache;

  private constructor(
    readonly model: CompiledWhisper,
    private readonly encoder: InferenceSession,
    private readonly decoder: InferenceSession,
    readonly backend: string,
    readonly choice: EngineChoice,
  ) {
    this.cache = new WhisperKvCache(model);
  }

  /** Compiles and loads the model of a folder. Errors: ModelLoadError, UnsupportedModelError. */
  static async load(
    directory: string,
    { compiledDirectory: cacheDir, weights }: EngineSettings,
    settings: SessionSettings,
    { alignmentHeads }: Pick<WhisperSettings, 'alignmentHeads'>,
  ): Promise<{ open: (choice: EngineChoice) => WhisperSession }> {
    const model = await compileWhisper(directory, { cacheDir, weights, alignmentHeads });
    const { session: encoder, backend } = await createSession(model.encoderPath, settings);
    const { session: decoder } = await createSession(model.decoderPath, settings);
    const name = `${backend} compiled ${model.weights}`;
    return { open: (choice) => new WhisperSession(model, encoder, decoder, name, choice) };
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
      input_ids: int64(tokens.flat(), [tokens.length, width]),
      past_lengths: int64(pasts, [pasts.length]),
      logit_positions: int64(wanted, [wanted.length]),
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

function int64(values: readonly number[], dims: readonly number[]): Tensor {
  return new Tensor('int64', BigInt64Array.from(values, BigInt), dims);
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
