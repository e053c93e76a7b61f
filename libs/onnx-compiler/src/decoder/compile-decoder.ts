import { join } from 'node:path';
import { DeltaAttention, type KvPrecision } from './delta-attention.js';
import { compileOnce } from '../compile-cache.js';
import { detectIntegerKernel } from '../onnx/detect-integer-kernel.js';
import type { IntegerKernel } from '../onnx/integer-kernel.js';
import { writeDecoderGraph } from './write-decoder-graph.js';

export interface CompileDecoderOptions {
  /** Where compiled models are kept; made when absent. */
  readonly cacheDir: string;
  /** `int8`: one scale per output channel, activations quantised row by row. */
  readonly weights: 'fp32' | 'int8';
  /** `int8`: slabs of a quarter the size; pays from about 256 positions on. */
  readonly kv: KvPrecision;
  /** Default: what this machine has. */
  readonly kernel?: IntegerKernel;
}

/**
 * A compiled decoder. The caller owns the key-value cache: per layer a key slab and a value slab that hold `capacity`
 * positions of `batch` sequences. A run reads them without a copy and returns only what is new; the caller writes that
 * behind each sequence's past.
 *
 * Inputs (B sequences, S new tokens each, C = capacity, H = kvHeads, D = headDim):
 * - `input_ids` int64 `[B, S]`; shorter sequences are padded at the end with any valid token;
 * - `past_lengths` int64 `[B]`: valid positions of each sequence's slabs; its new tokens follow from there;
 * - `logit_positions` int64 `[N]`: flat indexes (`sequence × S + token`) of the tokens whose logits are wanted;
 * - `past_key_values.{layer}.key`, `.value`: with `kv` float, float32 `[B, H, C, D]` both; with `kv` int8, int8 keys
 *   `[B, H, D, C]` (positions last) and values `[B, H, C, D]`, plus `past_key_values.{layer}.key_scale`, `.value_scale`
 *   float32 `[B, H, 1, C]`. What lies behind `past_lengths` is ignored but must be finite.
 *
 * Outputs:
 * - `logits` float32 `[N, vocabularySize]`;
 * - `new_kv` `[2 × layers, B, H, S, D]`, float32 or int8: key of layer 0, value of layer 0, key of layer 1, …;
 * - `new_kv_scale` float32 `[2 × layers, B, H, S]`, with `kv` int8 only: value ≈ int8 × scale.
 *
 * Invariants: C ≥ 1; every `past_lengths[b] + S` ≤ C and ≤ contextLength (C ≥ past + S and C a multiple of 64 make the
 * sums of a sequence run in the same order whatever C and B are, so that with int8 weights its results are the same alone
 * and in a batch).
 */
export interface CompiledDecoder {
  readonly onnxPath: string;
  readonly layers: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly vocabularySize: number;
  /** Most positions that a sequence may have. */
  readonly contextLength: number;
  readonly weights: 'fp32' | 'int8';
  readonly kv: KvPrecision;
}

/**
 * Writes the serving graph of a Llama-shaped model (Llama, SmolLM, TinyLlama, Mistral, Qwen2, Qwen2.5, Qwen3), or finds it
 * in the cache. `modelDirectory` holds config.json and safetensors.
 * Throws UnsupportedModelError when the architecture or one of its options is not known.
 */
export async function compileDecoder(
  modelDirectory: string,
  options: CompileDecoderOptions,
): Promise<CompiledDecoder> {
  const { cacheDir, weights, kv } = options;
  const isExact = weights === 'fp32' && kv === 'float';
  const kernel = isExact ? 'exact' : (options.kernel ?? (await detectIntegerKernel()));
  const key = { kind: 'decoder', weights, kv, kernel };
  const { directory, description } = await compileOnce(modelDirectory, cacheDir, key, (target) =>
    writeDecoder(modelDirectory, target, { weights, kv, kernel }),
  );
  return { onnxPath: join(directory, 'model.onnx'), ...description };
}

async function writeDecoder(
  modelDirectory: string,
  target: string,
  { weights, kv, kernel }: Required<Omit<CompileDecoderOptions, 'cacheDir'>>,
): Promise<Omit<CompiledDecoder, 'onnxPath'>> {
  const shape = await writeDecoderGraph(modelDirectory, target, {
    linear: weights === 'fp32' ? 'fp32' : 'int8-row',
    kernel,
    attention: (graph, decoder, inputIds) => new DeltaAttention(graph, decoder, kv, inputIds),
  });
  const { layers, kvHeads, headDim, vocabularySize, contextLength } = shape;
  return { layers, kvHeads, headDim, vocabularySize, contextLength, weights, kv };
}
