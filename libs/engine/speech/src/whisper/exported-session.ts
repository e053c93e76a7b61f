import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Tensor, type InferenceSession } from 'onnxruntime-node';
import { z } from 'zod';
import {
  readJson,
  ModelLoadError,
  createSession,
  int64Tensor,
  type SessionSettings,
  toFloat32,
} from '#engine/models';
import { logSoftmax } from '../ctc/search.js';
import type { DecodeStep, DecoderRows, WhisperBackend } from './whisper-engine.js';

const configSchema = z.looseObject({
  d_model: z.int().positive(),
  decoder_attention_heads: z.int().positive(),
  max_source_positions: z.int().positive(),
  max_target_positions: z.int().positive(),
});
type Config = z.output<typeof configSchema>;

/** A window in decoding: the encoder's states, and the past in the form of the graph. */
interface Slot {
  readonly states: Tensor;
  readonly past: ReadonlyMap<string, Tensor>;
}

/**
 * Whisper as exported graphs (`encoder_model*.onnx`, `decoder_model_merged*.onnx`): each sequence runs alone, and
 * each run takes and returns the whole past. It is slower than the compiled model and does not provide word times.
 */
export class ExportedSession implements WhisperBackend {
  readonly hasAlignment = false;
  private readonly slots: Slot[] = [];
  private readonly pastNames: readonly string[];

  private constructor(
    private readonly config: Config,
    private readonly encoder: InferenceSession,
    private readonly decoder: InferenceSession,
    readonly backend: string,
  ) {
    this.pastNames = decoder.inputNames.filter((name) => name.startsWith('past_key_values.'));
  }

  /** Loads the graphs. `file`: the decoder; the encoder is in the same folder. Errors: ModelLoadError. */
  static async load(directory: string, file: string, settings: SessionSettings): Promise<ExportedSession> {
    const encoderFile = join(dirname(file), basename(file).replace('decoder_model_merged', 'encoder_model'));
    if (!basename(file).startsWith('decoder_model_merged') || !existsSync(encoderFile))
      throw new ModelLoadError(
        `${directory} lacks encoder_model and decoder_model_merged of the same precision.`,
      );
    const config = await readJson(directory, 'config.json', configSchema);
    const { session: encoder, backend } = await createSession(encoderFile, settings);
    const { session: decoder } = await createSession(file, settings);
    return new ExportedSession(config, encoder, decoder, `${backend} exporter`);
  }

  get model() {
    const { max_source_positions: sourcePositions, max_target_positions: targetPositions } = this.config;
    return { sourcePositions, targetPositions };
  }

  /** The tensors own their memory. */
  reserve(): void {}

  move(from: number, to: number): void {
    this.slots[to] = this.slots[from]!;
  }

  async encode(features: Float32Array, slot: number): Promise<void> {
    const frames = 2 * this.config.max_source_positions;
    const input = new Tensor('float32', features, [1, features.length / frames, frames]);
    const { last_hidden_state: states } = await this.encoder.run({ input_features: input });
    this.slots[slot] = { states: states!, past: new Map() };
  }

  async decode({ first, pasts, tokens, wanted, keep = true }: DecodeStep): Promise<DecoderRows> {
    const width = tokens[0]!.length;
    const logits: { values: Float32Array; vocabulary: number }[] = [];
    for (const [index, row] of tokens.entries()) {
      const slot = this.slots[first + index]!;
      const outputs = await this.decoder.run(this.#feeds(slot, pasts[index]!, row));
      if (keep) this.slots[first + index] = { ...slot, past: kept(slot, outputs, pasts[index] === 0) };
      const { logits: scores } = outputs;
      logits.push({ values: toFloat32(scores!), vocabulary: scores!.dims[2]! });
    }
    return {
      scores: wanted.map((place) => {
        const { values, vocabulary } = logits[Math.floor(place / width)]!;
        const start = (place % width) * vocabulary;
        const row = values.slice(start, start + vocabulary);
        return logSoftmax({ values: row, steps: 1, width: vocabulary }).values;
      }),
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.encoder.release(), this.decoder.release()]);
  }

  #feeds({ states, past }: Slot, length: number, tokens: readonly number[]): Record<string, Tensor> {
    const { d_model: hidden, decoder_attention_heads: heads } = this.config;
    const nothing = () => new Tensor('float32', new Float32Array(), [1, heads, 0, hidden / heads]);
    const feeds: Record<string, Tensor> = {
      input_ids: int64Tensor(tokens, [1, tokens.length]),
      encoder_hidden_states: states,
    };
    if (this.decoder.inputNames.includes('use_cache_branch'))
      feeds['use_cache_branch'] = new Tensor('bool', Uint8Array.of(length > 0 ? 1 : 0), [1]);
    for (const name of this.pastNames) feeds[name] = (length > 0 && past.get(name)) || nothing();
    return feeds;
  }
}

/** Returns the past for the next run; only the first run returns keys and values of the audio. */
function kept(slot: Slot, outputs: InferenceSession.OnnxValueMapType, isFirst: boolean): Map<string, Tensor> {
  const past = new Map(slot.past);
  for (const [name, value] of Object.entries(outputs))
    if (name.startsWith('present.') && (isFirst || !name.includes('.encoder.')))
      past.set(name.replace('present', 'past_key_values'), value);
  return past;
}
