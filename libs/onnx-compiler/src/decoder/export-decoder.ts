import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compileOnce } from '../compile-cache.js';
import { DenseAttention } from './dense-attention.js';
import { detectIntegerKernel } from '../onnx/detect-integer-kernel.js';
import { writeDecoderGraph } from './write-decoder-graph.js';

/**
 * Writes `model.onnx` into `targetDirectory` the way exporters do: `input_ids`, `attention_mask`, `position_ids` and
 * `past_key_values.*` in, `logits` of every position and `present.*` out. The slow general form, for comparison and for
 * runtimes that know no other; int8 weights take activations quantised over the whole tensor, as exporters' do.
 * Returns the file's path. Throws UnsupportedModelError as compileDecoder does.
 */
export async function exportDecoder(
  modelDirectory: string,
  targetDirectory: string,
  weights: 'fp32' | 'int8',
): Promise<string> {
  await mkdir(targetDirectory, { recursive: true });
  await writeDecoderGraph(modelDirectory, targetDirectory, {
    linear: weights === 'fp32' ? 'fp32' : 'int8-tensor',
    kernel: await detectIntegerKernel(),
    attention: (graph, shape, inputIds) => new DenseAttention(graph, shape, inputIds),
  });
  return join(targetDirectory, 'model.onnx');
}

/**
 * The same graph with float weights, written once and kept in the cache, for devices whose memory the cache of keys and
 * values stays in. Returns the file's path. Throws UnsupportedModelError as compileDecoder does.
 */
export async function compileDenseDecoder(modelDirectory: string, cacheDir: string): Promise<string> {
  const key = { kind: 'decoder', attention: 'dense', weights: 'fp32' };
  const { directory } = await compileOnce(modelDirectory, cacheDir, key, async (target) => {
    await exportDecoder(modelDirectory, target, 'fp32');
    return {};
  });
  return join(directory, 'model.onnx');
}
