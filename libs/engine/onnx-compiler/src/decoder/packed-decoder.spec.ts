import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InferenceSession } from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type FixtureTensor,
  type FixtureTensors,
  randomTensors,
  writeCheckpoint,
} from '../checkpoint/checkpoint.fixture.js';
import { SafetensorsReader } from '../checkpoint/safetensors.js';
import { packedMatrix, readPacking, halfAt } from '../checkpoint/matrix.js';
import { dequantizeBlocks, quantizeBlocks } from '../quantization/blocks.js';
import { compileDecoder } from './compile-decoder.js';
import { decodeGreedily } from './greedy-driver.fixture.js';
import { decoderShapes, referenceLogits, smallLlama } from './reference-decoder.fixture.js';

const group = 32;
const format = { bits: 4, block: group, zeroPoints: true } as const;

/** The forms of the hub: of a word of eight outputs, AWQ keeps the outputs in the order 0, 2, 4, 6, 1, 3, 5, 7. */
const forms = {
  gptq: { quant_method: 'gptq', bits: 4, group_size: group, desc_act: false, sym: false },
  'gptq in its second format': {
    quant_method: 'gptq',
    bits: 4,
    group_size: group,
    desc_act: false,
    checkpoint_format: 'gptq_v2',
  },
  'gptq with reordered inputs': { quant_method: 'gptq', bits: 4, group_size: group, desc_act: true },
  awq: { quant_method: 'awq', bits: 4, group_size: group, zero_point: true, version: 'GEMM' },
} as const;
type Form = keyof typeof forms;
const outputsOfAwq = [0, 2, 4, 6, 1, 3, 5, 7];

/** A quantized layer: levels, zero points and scales by output and input. */
interface Layer {
  readonly rows: number;
  readonly columns: number;
  readonly level: (row: number, column: number) => number;
  readonly zero: (row: number, index: number) => number;
  readonly scale: (row: number, index: number) => number;
  readonly exact: Float32Array;
}

function quantized({ shape, values }: FixtureTensor): Layer {
  const [rows = 0, columns = 0] = shape;
  const blocks = quantizeBlocks(values, rows, columns, format);
  const count = columns / group;
  return {
    rows,
    columns,
    level: (row, column) => halfAt(blocks.values, row * columns + column),
    zero: (row, index) => halfAt(blocks.zeroPoints!, row * Math.ceil(count / 2) * 2 + index),
    scale: (row, index) => blocks.scales[row * count + index]!,
    exact: dequantizeBlocks(blocks, rows, columns, format),
  };
}

const words = (shape: [number, number], word: (line: number, column: number) => number[]): FixtureTensor => {
  const packed = Int32Array.from({ length: shape[0] * shape[1] }, (_unused, index) =>
    word(Math.floor(index / shape[1]), index % shape[1]).reduce(
      (sum, part, nibble) => sum | (part << (4 * nibble)),
      0,
    ),
  );
  return { shape, values: new Float32Array(packed.buffer), dtype: 'I32' };
};
const eight = [0, 1, 2, 3, 4, 5, 6, 7];

/** Packs a layer as the form does. With reordered inputs, input c lies in the group of the order's place of c. */
function pack(name: string, layer: Layer, form: Form): Record<string, FixtureTensor> {
  const { rows, columns, level, zero, scale } = layer;
  const groups = columns / group;
  const isAwq = form === 'awq';
  const offset = form === 'gptq' || form === 'gptq with reordered inputs' ? 1 : 0;
  const outputs = (column: number) => (isAwq ? outputsOfAwq : eight).map((output) => column * 8 + output);
  return {
    [`${name}.qweight`]: isAwq
      ? words([columns, rows / 8], (line, column) => outputs(column).map((row) => level(row, line)))
      : words([columns / 8, rows], (line, row) => eight.map((nibble) => level(row, line * 8 + nibble))),
    [`${name}.qzeros`]: words([groups, rows / 8], (index, column) =>
      outputs(column).map((row) => (zero(row, index) - offset) & 15),
    ),
    [`${name}.scales`]: {
      shape: [groups, rows],
      values: Float32Array.from({ length: groups * rows }, (_unused, index) =>
        scale(index % rows, Math.floor(index / rows)),
      ),
    },
    ...(!isAwq && { [`${name}.g_idx`]: groupIndexes(columns) }),
  };
}

function groupIndexes(columns: number): FixtureTensor {
  const indexes = Int32Array.from({ length: columns }, (_unused, column) => Math.floor(column / group));
  return { shape: [columns], values: new Float32Array(indexes.buffer), dtype: 'I32' };
}

const tensors = randomTensors(decoderShapes(smallLlama), 31);
const isLayer = (name: string) => name.includes('_proj.');

/** What the graph computes with: rounded weights, and inputs of products that are rounded too. */
const reference: FixtureTensors = Object.fromEntries(
  Object.entries(tensors).map(([name, tensor]) => {
    const [rows = 0, columns = 0] = tensor.shape;
    if (isLayer(name)) return [name, { ...tensor, values: quantized(tensor).exact, inputBlock: group }];
    if (name !== 'model.embed_tokens.weight') return [name, tensor];
    const bytes = { bits: 8, block: 32, zeroPoints: false } as const;
    const blocks = quantizeBlocks(tensor.values, rows, columns, bytes);
    return [name, { ...tensor, values: dequantizeBlocks(blocks, rows, columns, bytes), inputBlock: 32 }];
  }),
);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-packed-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function checkpoint(form: Form): Promise<string> {
  const directory = join(folder, form.replaceAll(' ', '-'));
  const packed = Object.entries(tensors).flatMap(([name, tensor]) =>
    isLayer(name)
      ? Object.entries(pack(name.replace('.weight', ''), quantized(tensor), form))
      : [[name, tensor] as const],
  );
  await writeCheckpoint(
    directory,
    { ...smallLlama, quantization_config: forms[form] },
    Object.fromEntries(packed),
  );
  return directory;
}

const likeliest = (row: readonly number[]): number => row.indexOf(Math.max(...row));
const prompt = [5, 31, 1, 64, 17, 80, 2];

/** Greedy tokens, and those of a plain forward pass over the known weights. */
async function generate(form: Form, weights: 'int4' | 'fp32') {
  const model = await compileDecoder(await checkpoint(form), {
    cacheDir: join(folder, 'cache'),
    weights,
    kv: 'float',
  });
  const session = await InferenceSession.create(model.onnxPath, { intraOpNumThreads: 1 });
  const [answer = []] = await decodeGreedily(session, model, [prompt], 20);
  return answer;
}

function expected(known: FixtureTensors, answer: readonly number[]): number[] {
  const rows = referenceLogits(smallLlama, known, [...prompt, ...answer.slice(0, -1)]);
  return rows.slice(prompt.length - 1).map(likeliest);
}

/** The known weights with exact products. */
const exactProducts: FixtureTensors = Object.fromEntries(
  Object.entries(tensors).map(([name, tensor]) => [
    name,
    isLayer(name) ? { ...tensor, values: quantized(tensor).exact } : tensor,
  ]),
);

describe.each(Object.keys(forms) as Form[])('a checkpoint in the form of %s', (form) => {
  it('has the weights that were packed', async () => {
    const reader = await SafetensorsReader.open(await checkpoint(form));
    const packing = readPacking(forms[form]);
    if (typeof packing === 'string') throw new Error(packing);
    const name = 'model.layers.1.mlp.down_proj';
    const layer = packedMatrix(reader, name, packing);
    const { rows, columns, exact } = quantized(tensors[`${name}.weight`]!);
    expect([layer.rows, layer.columns]).toEqual([rows, columns]);
    expect(await layer.read()).toEqual(exact);
    const blocks = await layer.blocks?.read();
    const isReordered = form === 'gptq with reordered inputs';
    expect(blocks && dequantizeBlocks(blocks, rows, columns, format)).toEqual(
      isReordered ? undefined : exact,
    );
    await reader.close();
  });

  it('is dequantized for fp32 weights', async () => {
    const answer = await generate(form, 'fp32');
    expect(answer).toEqual(expected(exactProducts, answer));
  });
});

it.each(['gptq', 'gptq in its second format', 'awq'] as const)(
  'writes with int4 what a plain forward pass over the packed weights writes: %s',
  async (form) => {
    const answer = await generate(form, 'int4');
    expect(answer).toEqual(expected(reference, answer));
  },
);

it('follows the groups of reordered inputs', async () => {
  const name = 'model.layers.0.mlp.down_proj';
  const layer = quantized(tensors[`${name}.weight`]!);
  const { rows, columns } = layer;
  // Inputs in reverse order: input c has the level and the group of input columns − 1 − c.
  const reversed: Layer = { ...layer, level: (row, column) => layer.level(row, columns - 1 - column) };
  const packed = pack(name, reversed, 'gptq with reordered inputs');
  const order = Int32Array.from({ length: columns }, (_unused, column) =>
    Math.floor((columns - 1 - column) / group),
  );
  packed[`${name}.g_idx`] = { shape: [columns], values: new Float32Array(order.buffer), dtype: 'I32' };
  const directory = join(folder, 'reversed');
  await writeCheckpoint(directory, {}, packed);
  const reader = await SafetensorsReader.open(directory);
  const packing = { method: 'gptq', zeroOffset: 1, isReordered: true } as const;
  const values = await packedMatrix(reader, name, packing).read();
  const wanted = layer.exact.map((_value, index) => {
    const row = Math.floor(index / columns);
    return layer.exact[row * columns + (columns - 1 - (index % columns))]!;
  });
  expect(values).toEqual(wanted);
  expect(values).toHaveLength(rows * columns);
  await reader.close();
});

it.each([
  [{ quant_method: 'gptq', bits: 3 }, 'quantization_config of gptq with 3 bits'],
  [{ quant_method: 'awq', bits: 4, version: 'gemv' }, 'quantization_config of awq in the form "gemv"'],
  [{ quant_method: 'bitsandbytes' }, 'quantization_config of "bitsandbytes"'],
])('names what it does not read: %o', (config, obstacle) => {
  expect(readPacking(config)).toBe(obstacle);
});
