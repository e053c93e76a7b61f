import { mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { GraphBuilder } from './graph-builder.js';
import { writeOnnxFile } from './onnx-file.js';
import { OnnxTensors } from './read-tensors.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-tensors-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const bytes = Int8Array.from({ length: 300 * 40 }, (_unused, index) => index % 251);
const floats = Float32Array.from({ length: 7 }, (_unused, index) => index / 3);

/** Writes a graph with two constants; `limit`: bytes above which weights are in a file of their own. */
async function open(limit?: number): Promise<OnnxTensors> {
  const graph = new GraphBuilder();
  const weights = graph.constant('weights', 'int8', [300, 40], () => bytes);
  const scales = graph.constant('scales', 'float32', [7], () => floats);
  graph.op('Cast', [weights], { attributes: { to: 1 }, output: 'result' });
  graph.op('Identity', [scales], { output: 'other' });
  graph.output('result', 'float32', [300, 40]);
  await writeOnnxFile(folder, graph.build('constants'), limit);
  return OnnxTensors.open(join(folder, 'model.onnx'));
}

it.each([
  ['in the model file', undefined],
  ['in a file beside it', 1000],
])('reads constants %s, whole and in parts', async (_place, limit) => {
  const tensors = await open(limit);
  expect(tensors.has('weights')).toBe(true);
  expect(tensors.shape('weights')).toEqual([300, 40]);
  expect(await tensors.floats('scales')).toEqual(floats);
  const part = new Uint8Array(80);
  await tensors.read('weights', part, 40 * 11);
  expect(part).toEqual(new Uint8Array(bytes.buffer).subarray(440, 520));
  await tensors.close();
});

it('says which constant is missing, or longer than its file', async () => {
  const tensors = await open(1000);
  expect(() => tensors.shape('bias')).toThrow('The graph has no constant bias.');
  await truncate(join(folder, 'model.onnx.data'), 100);
  await expect(tensors.read('weights', new Uint8Array(12_000))).rejects.toThrow(
    /model\.onnx\.data ends before the constant weights does/,
  );
  await tensors.close();
});
