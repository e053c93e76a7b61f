import { cp, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { readConfig } from './config-file.js';
import { exportDecoder } from './decoder/compile-decoder.js';
import { exportWhisper } from './whisper/export-whisper.js';
import { detectIntegerKernel } from './onnx/graph-builder.js';
import { writeEncoderGraph } from './encoder/compile-encoder.js';

const configSchema = z.looseObject({ architectures: z.array(z.string()).default([]) });

/**
 * Copies a model directory and replaces the checkpoint by `onnx/model.onnx` in the form of Hugging Face's exports,
 * so that transformers.js and other runtimes can load it:
 * - decoders: `input_ids`, `attention_mask`, `position_ids`, `past_key_values.*` in; `logits` of every position and
 *   `present.*` out;
 * - Whisper: `onnx/encoder_model.onnx` and `onnx/decoder_model_merged.onnx`;
 * - encoders: `input_ids`, `attention_mask`, `token_type_ids` in; `last_hidden_state`, or `logits` of a classifier,
 *   out.
 *
 * This form is slower. With int8 weights, activations are quantized over the whole tensor, as exporters do. Returns
 * the path of the graph. Errors: UnsupportedModelError, like the compiler.
 */
export async function exportModel(
  modelDirectory: string,
  targetDirectory: string,
  weights: 'fp32' | 'int8' = 'fp32',
): Promise<string> {
  const target = join(targetDirectory, 'onnx');
  await cp(modelDirectory, targetDirectory, { recursive: true, filter: (path) => !isWeights(path) });
  await mkdir(target, { recursive: true });
  const architecture = await readArchitecture(modelDirectory);
  if (architecture.startsWith('Whisper')) return exportWhisper(modelDirectory, target, weights);
  if (architecture.endsWith('ForCausalLM')) return exportDecoder(modelDirectory, target, weights);
  const task = architecture.endsWith('ForSequenceClassification') ? 'classification' : 'tokens';
  await writeEncoderGraph(modelDirectory, target, {
    linear: weights === 'fp32' ? 'fp32' : 'int8-tensor',
    kernel: await detectIntegerKernel(),
    head: { task },
  });
  return join(target, 'model.onnx');
}

const isWeights = (path: string): boolean =>
  /\.safetensors(\.index\.json)?$/.test(path) || basename(path) === 'onnx';

async function readArchitecture(modelDirectory: string): Promise<string> {
  return configSchema.parse(await readConfig(modelDirectory)).architectures[0] ?? '';
}
