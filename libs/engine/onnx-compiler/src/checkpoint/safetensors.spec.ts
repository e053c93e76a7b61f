import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { randomTensors, writeCheckpoint } from './checkpoint.fixture.js';
import { quantizeCheckpoint } from '../quantization/quantize.js';
import { SafetensorsReader } from './safetensors.js';
import { UnsupportedModelError } from '../config-file.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-safetensors-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(header: object, data: Uint8Array): Promise<void> {
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  await writeFile(join(folder, 'model.safetensors'), Buffer.concat([length, json, data]));
}

async function readAll(directory = folder): Promise<Record<string, Float32Array>> {
  const reader = await SafetensorsReader.open(directory);
  try {
    const entries: [string, Float32Array][] = [];
    for (const name of reader.names()) entries.push([name, await reader.readFloat32(name)]);
    return Object.fromEntries(entries);
  } finally {
    await reader.close();
  }
}

describe('SafetensorsReader', () => {
  it('widens half precision and bfloat16 exactly, subnormal and infinite values included', async () => {
    const halves = Uint16Array.of(0x3c00, 0xc000, 0x0001, 0x7bff, 0x7c00, 0x8000);
    const brains = Uint16Array.of(0x3f80, 0xc000, 0x0080);
    await write(
      {
        __metadata__: { format: 'pt' },
        half: { dtype: 'F16', shape: [6], data_offsets: [0, 12] },
        brain: { dtype: 'BF16', shape: [3], data_offsets: [12, 18] },
      },
      Buffer.concat([Buffer.from(halves.buffer), Buffer.from(brains.buffer)]),
    );
    const { half, brain } = await readAll();
    expect([...half!]).toEqual([1, -2, 2 ** -24, 65_504, Number.POSITIVE_INFINITY, -0]);
    expect([...brain!]).toEqual([1, -2, 2 ** -126]);
  });

  it('multiplies int8 by the scale of its row, or of its group in the row', async () => {
    const scales = Float32Array.of(1, 2, 0.5, 4);
    await write(
      {
        'a.weight': { dtype: 'I8', shape: [2, 4], data_offsets: [16, 24] },
        'a.weight_scale': { dtype: 'F32', shape: [2, 2], data_offsets: [0, 16] },
      },
      Buffer.concat([Buffer.from(scales.buffer), Buffer.from(Int8Array.of(1, 2, 3, 4, 5, 6, 7, -8).buffer)]),
    );
    expect(await readAll()).toEqual({ 'a.weight': Float32Array.of(1, 2, 6, 8, 2.5, 3, 28, -32) });
  });

  it('says which tensors nobody asked for', async () => {
    await writeCheckpoint(folder, {}, randomTensors({ used: [2], spare: [2], rest: [2] }));
    const reader = await SafetensorsReader.open(folder);
    reader.shape('used');
    expect(reader.unusedNames((name) => name === 'rest')).toEqual(['spare']);
    expect(() => reader.shape('absent')).toThrow(UnsupportedModelError);
    await reader.close();
  });

  it('refuses a directory without weights, other types, and shards elsewhere', async () => {
    await expect(SafetensorsReader.open(folder)).rejects.toThrow(UnsupportedModelError);
    const index = join(folder, 'model.safetensors.index.json');
    await writeFile(index, JSON.stringify({ weight_map: { a: '../elsewhere.safetensors' } }));
    await expect(SafetensorsReader.open(folder)).rejects.toThrow('a shard outside the model directory');
    await write({ a: { dtype: 'I64', shape: [1], data_offsets: [0, 8] } }, new Uint8Array(8));
    await expect(readAll()).rejects.toThrow('the type I64 of tensor a');
  });

  it('refuses damaged files', async () => {
    await write({ a: { dtype: 'F32', shape: [4], data_offsets: [0, 16] } }, new Uint8Array(8));
    await expect(SafetensorsReader.open(folder)).rejects.toThrow('damaged');
    await write({ a: { dtype: 'F32', shape: [4], data_offsets: [0, 8] } }, new Uint8Array(8));
    await expect(SafetensorsReader.open(folder)).rejects.toThrow('damaged');
    await write({ a: { dtype: 'F32', shape: [2], data_offsets: [0, 8] } }, new Uint8Array(9));
    await expect(SafetensorsReader.open(folder)).rejects.toThrow(/has \d+ bytes, and its header describes/);
    await writeFile(join(folder, 'model.safetensors'), 'not a checkpoint at all');
    await expect(SafetensorsReader.open(folder)).rejects.toThrow('is not a safetensors file');
  });
});

describe('quantizeCheckpoint', () => {
  it('rounds large matrices to int8 and keeps the rest; a second time changes nothing', async () => {
    const tensors = randomTensors({ 'a.weight': [300, 256], 'b.weight': [8, 8], 'c.norm.weight': [256] });
    await writeCheckpoint(folder, {}, tensors);
    await quantizeCheckpoint(folder, join(folder, 'once'));
    await quantizeCheckpoint(join(folder, 'once'), join(folder, 'twice'));
    const once = await readAll(join(folder, 'once'));
    expect(once['b.weight']).toEqual(tensors['b.weight']!.values);
    expect(once['c.norm.weight']).toEqual(tensors['c.norm.weight']!.values);
    const { values } = tensors['a.weight']!;
    const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const errors = values.map((value, index) => Math.abs(once['a.weight']![index]! - value));
    expect(errors.reduce((most, error) => Math.max(most, error), 0)).toBeLessThanOrEqual(
      largest / 254 + 1e-7,
    );
    const file = (name: string) => readFile(join(folder, name, 'model.safetensors'));
    expect((await file('twice')).length).toBe((await file('once')).length);
    expect(await readAll(join(folder, 'twice'))).toEqual(once);
  });
});
