import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compileOnce } from '../compile-cache.js';
import { detectIntegerKernel } from '../onnx/detect-integer-kernel.js';
import type { IntegerKernel } from '../onnx/integer-kernel.js';
import { writeOnnxFile } from '../onnx/onnx-file.js';
import { withCheckpoint } from '../checkpoint/open-checkpoint.js';
import { readWhisperShape, type WhisperShape } from './whisper-config.js';
import { type AttentionHead, buildWhisperDecoder } from './whisper-decoder-graph.js';
import { buildWhisperEncoder, type WhisperGraphOptions } from './whisper-encoder-graph.js';
import { WhisperWeights, isHarmless } from './whisper-weights.js';

export interface CompileWhisperOptions {
  /** Where compiled models are kept; made when absent. */
  readonly cacheDir: string;
  /** `int8` multiplies in int8 with activations quantised row by row. */
  readonly weights: 'fp32' | 'int8';
  /** Heads of the decoder that follow the audio, for times of words; from generation_config.json. */
  readonly alignmentHeads?: readonly AttentionHead[];
  /** Default: what this machine has. */
  readonly kernel?: IntegerKernel;
}

/**
 * A compiled Whisper model (B windows, T = sourcePositions, H = decoder heads, D = hiddenSize / H, L = decoder layers).
 *
 * The encoder takes `input_features` float32 `[B, bands, 2T]` and gives, for each layer of the decoder,
 * `cross.{layer}.key` and `.value` float32 `[B, H, T, D]`.
 *
 * The decoder takes those and `input_ids`, `past_lengths`, `logit_positions` and `past_key_values.{layer}.key`, `.value`
 * as a CompiledDecoder with float slabs does; it gives `log_probabilities` float32 `[N, vocabularySize]`, after the
 * softmax, `new_kv` `[2L, B, H, S, D]` and, with alignment heads, `alignment` float32 `[B, heads, S, T]`: where each token
 * looks, the heads in the order of their layers.
 */
export interface CompiledWhisper extends WhisperShape {
  readonly encoderPath: string;
  readonly decoderPath: string;
  readonly weights: 'fp32' | 'int8';
}

/**
 * Writes the serving graphs of a Whisper model (WhisperForConditionalGeneration), or finds them in the cache.
 * `modelDirectory` holds config.json and safetensors. Throws UnsupportedModelError for anything else.
 */
export async function compileWhisper(
  modelDirectory: string,
  options: CompileWhisperOptions,
): Promise<CompiledWhisper> {
  const { cacheDir, weights, alignmentHeads = [] } = options;
  const linear = weights === 'fp32' ? 'fp32' : 'int8-row';
  const kernel = linear === 'fp32' ? 'exact' : (options.kernel ?? (await detectIntegerKernel()));
  const key = { kind: 'whisper', linear, kernel, alignmentHeads };
  const { directory, description } = await compileOnce(modelDirectory, cacheDir, key, (target) =>
    writeWhisper(modelDirectory, target, { linear, kernel, alignmentHeads }),
  );
  const path = (part: string) => join(directory, part, 'model.onnx');
  return { ...description, encoderPath: path('encoder'), decoderPath: path('decoder'), weights };
}

async function writeWhisper(
  modelDirectory: string,
  target: string,
  options: WhisperGraphOptions & { readonly alignmentHeads: readonly AttentionHead[] },
): Promise<WhisperShape> {
  const shape = await readWhisperShape(modelDirectory);
  await withCheckpoint(modelDirectory, (reader) => {
    const weights = new WhisperWeights(reader, queryScales(shape));
    const graphs = {
      encoder: buildWhisperEncoder(shape, weights, { ...options, form: 'serving' }),
      decoder: buildWhisperDecoder(shape, weights, options),
    };
    const write = async () => {
      for (const [part, graph] of Object.entries(graphs)) {
        await mkdir(join(target, part));
        await writeOnnxFile(join(target, part), graph);
      }
    };
    return { isHarmless, write };
  });
  return shape;
}

/** 1 / √headDim of both stacks. */
export function queryScales({ hiddenSize, encoder, decoder }: WhisperShape) {
  return {
    encoder: (hiddenSize / encoder.heads) ** -0.5,
    decoder: (hiddenSize / decoder.heads) ** -0.5,
  };
}
