import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '#platform/foundation';
import { randomNumbers, randomTensors, writeCheckpoint } from '../checkpoint/checkpoint.fixture.js';
import { compileSpeech } from './compile-speech.js';
import { speechScores, speechShapes, tinySpeech } from './reference-speech.fixture.js';
import { SafetensorsReader } from '../checkpoint/safetensors.js';
import { UnsupportedModelError } from '../config-file.js';

let folder: string;
let directory: string;
const tensors = randomTensors(speechShapes(), 5);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-speech-'));
  directory = join(folder, 'tiny');
  await writeCheckpoint(directory, tinySpeech, tensors);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function randomFrames(count: number, seed: number): number[][] {
  const random = randomNumbers(seed);
  return Array.from({ length: count }, () => Array.from({ length: tinySpeech.n_mels }, random));
}

async function compiledScores(
  weights: 'fp32' | 'int8',
  batch: readonly (readonly number[][])[],
): Promise<number[][][]> {
  const { onnxPath } = await compileSpeech(directory, { cacheDir: join(folder, 'cache'), weights });
  const session = await InferenceSession.create(onnxPath, { intraOpNumThreads: 1 });
  const features = new Tensor('float32', Float32Array.from(batch.flat(2)), [
    batch.length,
    batch[0]!.length,
    tinySpeech.n_mels,
  ]);
  const { logits } = await session.run({ input_features: features });
  const [, steps = 0, width = 0] = logits!.dims;
  const values = [...(logits!.data as Float32Array)];
  return batch.map((_, row) =>
    Array.from({ length: steps }, (_unused, step) => {
      const start = (row * steps + step) * width;
      return values.slice(start, start + width);
    }),
  );
}

function distance(actual: readonly number[][], expected: readonly number[][]): number {
  expect(actual).toHaveLength(expected.length);
  return Math.max(
    ...expected.flatMap((row, index) =>
      row.map((value, column) => Math.abs(actual[index]![column]! - value)),
    ),
  );
}

describe('compileSpeech', () => {
  it.each([1, 5, 6, 7, 40])('scores %i frames like a double-precision forward pass', async (count) => {
    const frames = randomFrames(count, count);
    const [scores] = await compiledScores('fp32', [frames]);
    expect(distance(scores!, speechScores(tensors, frames))).toBeLessThan(1e-5);
  });

  it('scores each audio of a batch as if it were alone', async () => {
    const batch = [randomFrames(30, 1), randomFrames(30, 2)];
    const together = await compiledScores('int8', batch);
    for (const [row, frames] of batch.entries()) {
      const [alone] = await compiledScores('int8', [frames]);
      expect(distance(together[row]!, alone!)).toBeLessThan(1e-6);
    }
  });

  it('stays close to the exact scores with int8 weights', async () => {
    const frames = randomFrames(60, 3);
    const [scores] = await compiledScores('int8', [frames]);
    expect(distance(scores!, speechScores(tensors, frames))).toBeLessThan(0.15);
  });

  it('tells what of the graph a caller must know', async () => {
    const compiled = await compileSpeech(directory, { cacheDir: join(folder, 'cache'), weights: 'fp32' });
    expect(compiled).toMatchObject({ bands: 6, framesPerStep: 6, vocabularySize: 10, blankTokenId: 0 });
  });

  it.each([
    ['another architecture', { ...tinySpeech, model_type: 'wav2vec2' }, 'model_type "wav2vec2"'],
    ['a config without dilations', { ...tinySpeech, dilations: [] }, 'dilations'],
  ])('refuses %s', async (name, config, message) => {
    const odd = join(folder, name);
    await writeCheckpoint(odd, config, tensors);
    const compiling = compileSpeech(odd, { cacheDir: join(folder, 'cache'), weights: 'fp32' });
    await expect(compiling).rejects.toThrow(UnsupportedModelError);
    await expect(compiling).rejects.toThrow(message);
  });

  it('refuses a tensor that it does not know', async () => {
    const odd = join(folder, 'more');
    const extra = { 'blocks.0.gate.weight': { shape: [1], values: new Float32Array(1) } };
    await writeCheckpoint(odd, tinySpeech, { ...tensors, ...extra });
    const compiling = compileSpeech(odd, { cacheDir: join(folder, 'cache'), weights: 'fp32' });
    await expect(compiling).rejects.toThrow('blocks.0.gate.weight');
  });
});

describe('the bundled nano-asr', () => {
  const bundled = join(projectRoot, 'models', 'nano-asr');

  it('has at most 4 million parameters and 8 MB', async () => {
    const reader = await SafetensorsReader.open(bundled);
    const sizes = reader.names().map((name) => reader.shape(name).reduce((size, count) => size * count, 1));
    await reader.close();
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(4e6);
    const files = await Promise.all((await readdir(bundled)).map((file) => stat(join(bundled, file))));
    expect(files.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(8e6);
  });

  it('has as many units as its vocabulary', async () => {
    const compiled = await compileSpeech(bundled, { cacheDir: join(folder, 'cache'), weights: 'int8' });
    const units = JSON.parse(await readFile(join(bundled, 'vocab.json'), 'utf8')) as Record<string, number>;
    expect(Object.keys(units)).toHaveLength(compiled.vocabularySize);
    expect(units['<blank>']).toBe(compiled.blankTokenId);
  });
});
