import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compileOnce } from '../compile-cache.js';
import { detectIntegerKernel, type IntegerKernel } from '../onnx/graph-builder.js';
import { writeOnnxFile } from '../onnx/onnx-file.js';
import { withCheckpoint } from '../checkpoint/safetensors.js';
import { readWhisperShape, type WhisperShape, WhisperWeights, isIgnorable } from './whisper-model.js';
import { type AttentionHead, WhisperDecoderWriter } from './whisper-decoder-graph.js';
import { WhisperEncoderWriter, type WhisperGraphOptions } from './whisper-encoder-graph.js';

/** Options of {@link compileWhisper}. */
export interface CompileWhisperOptions {
  /** Directory of compiled models; created if missing. */
  readonly cacheDir: string;
  /** `int8` multiplies in int8 with activations quantized row by row. */
  readonly weights: 'fp32' | 'int8';
  /** Decoder heads that align tokens with the audio, for word times; from generation_config.json. */
  readonly alignmentHeads?: readonly AttentionHead[];
  /** Default: the kernel of this machine. */
  readonly kernel?: IntegerKernel;
}

/**
 * A compiled Whisper model (B windows, T = sourcePositions, H = decoder heads, D = hiddenSize / H, L = decoder
 * layers).
 *
 * The encoder takes `input_features` float32 `[B, bands, 2T]` and returns, for each layer of the decoder,
 * `cross.{layer}.key` and `.value` float32 `[B, H, T, D]`.
 *
 * The decoder takes these, and `input_ids`, `past_lengths`, `logit_positions` and `past_key_values.{layer}.key`,
 * `.value` as a CompiledDecoder with a float cache does. It returns `log_probabilities` float32 `[N,
 * vocabularySize]`, after the softmax, `new_kv` `[B, 2L × H, S, D]` and, with alignment heads, `alignment` float32
 * `[B, heads, S, T]`: the attention of each token to the audio, with the heads in the order of their layers.
 */
export interface CompiledWhisper extends WhisperShape {
  readonly encoderPath: string;
  readonly decoderPath: string;
  readonly weights: 'fp32' | 'int8';
}

/**
 * Writes the serving graphs of a Whisper model (WhisperForConditionalGeneration), or finds them in the cache.
 * `modelDirectory` holds config.json and safetensors. Errors: UnsupportedModelError for any other model.
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
    const weights = new WhisperWeights(reader, shape);
    const graphs = {
      encoder: new WhisperEncoderWriter(shape, weights, { ...options, form: 'serving' }).write(),
      decoder: new WhisperDecoderWriter(shape, weights, options).write(),
    };
    const write = async () => {
      for (const [part, graph] of Object.entries(graphs)) {
        await mkdir(join(target, part));
        await writeOnnxFile(join(target, part), graph);
      }
    };
    return { isIgnorable, write };
  });
  return shape;
}
