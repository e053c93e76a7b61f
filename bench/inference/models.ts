import { existsSync } from 'node:fs';
import { copyFile, cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { env } from '@xenova/transformers';
import { projectRoot, testData } from '#platform/foundation';
import { exportModel } from '#engine/onnx-compiler';
import { makeRandomDecoder, shape135m } from './random-decoder.js';

/** Folder of checkpoints with random weights, graphs and other files that benchmarks keep. */
export const benchFolder = path.join(projectRoot, '.data', 'bench');

/** Returns the folder of a bundled model. */
export function bundledModel(name: string): string {
  return path.join(projectRoot, 'models', name);
}

/**
 * The decoder of SmolLM-135M's shape with random weights, and a tokenizer in which every digit is a token and every token
 * has a text, so that streams are like the streams of a real model.
 */
export async function randomDecoder(): Promise<string> {
  const folder = await makeRandomDecoder(path.join(benchFolder, 'random-135m'));
  const source = bundledModel('nano-chat');
  await copyFile(path.join(source, 'tokenizer_config.json'), path.join(folder, 'tokenizer_config.json'));
  const tokenizer = JSON.parse(await readFile(path.join(source, 'tokenizer.json'), 'utf8')) as BpeTokenizer;
  const { vocab } = tokenizer.model;
  for (let id = Object.keys(vocab).length; id < shape135m.vocab_size; id++) vocab[`Ġword${id}`] = id;
  await writeFile(path.join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  return folder;
}

interface BpeTokenizer {
  readonly model: { readonly vocab: Record<string, number> };
}

/** Returns a prompt of `tokens` tokens for models whose digits are tokens; each seed gives a different prompt. */
export function digits(tokens: number, seed: number): string {
  let state = seed + 1;
  const next = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 24;
  return Array.from({ length: tokens }, () => next() % 10).join('');
}

/**
 * The graph of another exporter for a bundled model, if the test data contain it. It is slower than the graph that
 * {@link exportModel} writes, and is the graph that users of transformers.js have. Returns its name for `dtype: 'q8'`.
 */
export async function exportersOwnGraph(model: string): Promise<string | undefined> {
  const source = testData('models', model);
  if (!existsSync(path.join(source, 'onnx', 'model_quantized.onnx'))) return undefined;
  const name = `${model}-exporters-own`;
  await cp(source, path.join(benchFolder, name), {
    recursive: true,
    filter: (file) => !file.endsWith('.safetensors'),
  });
  return name;
}

/**
 * Writes the same weights for transformers.js to a folder below {@link benchFolder}: fp32, or int8 in the form of
 * exporters. Returns the name for `pipeline` and `from_pretrained`, with `dtype: 'fp32'` for both.
 */
export async function forTransformersJs(folder: string, weights: 'fp32' | 'int8'): Promise<string> {
  const name = `${path.basename(folder)}-exported-${weights}`;
  await exportModel(folder, path.join(benchFolder, name), weights);
  env.localModelPath = `${benchFolder}/`;
  env.allowRemoteModels = false;
  return name;
}
