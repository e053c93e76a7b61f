import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { GraphBuilder } from './graph-builder.js';
import { type Graph, writeOnnxFile } from './onnx-file.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-onnx-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const width = 2048;

/** `(input + a) × b` with two vectors of 8 KB. */
function graph(): Graph {
  const builder = new GraphBuilder();
  const input = builder.input('input', 'float32', ['rows', width]);
  const vector = (name: string, value: number): string =>
    builder.constant(name, 'float32', [width], () => new Float32Array(width).fill(value));
  const sum = builder.op('Add', [input, vector('a', 1)]);
  builder.op('Mul', [sum, vector('b', 3)], { output: 'output' });
  builder.output('output', 'float32', ['rows', width]);
  return builder.build('sum');
}

async function run(): Promise<number[]> {
  const session = await InferenceSession.create(join(folder, 'model.onnx'));
  const outputs = await session.run({
    input: new Tensor('float32', new Float32Array(width).fill(2), [1, width]),
  });
  return [...new Set(outputs['output']!.data as Float32Array)];
}

it('writes a model that ONNX Runtime loads', async () => {
  expect(await writeOnnxFile(folder, graph())).toEqual(['model.onnx']);
  expect(await run()).toEqual([9]);
});

it('puts weights beside the model when one file would be too large', async () => {
  expect(await writeOnnxFile(folder, graph(), 10_000)).toEqual(['model.onnx', 'model.onnx.data']);
  expect((await stat(join(folder, 'model.onnx'))).size).toBeLessThan(1000);
  expect(await run()).toEqual([9]);
});

it('refuses a tensor whose data does not fit its shape', async () => {
  const builder = new GraphBuilder();
  builder.constant('short', 'float32', [4], () => new Float32Array(3));
  await expect(writeOnnxFile(folder, builder.build('short'))).rejects.toThrow('12 bytes');
});
