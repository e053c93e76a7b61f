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
import { dequantizeBlocks, quantizeBlocks } from '../quantization/blocks.js';
import { compileDecoder } from './compile-decoder.js';
import { decodeGreedily, GreedyDriver } from './greedy-driver.fixture.js';
import { decoderShapes, type ReferenceConfig, referenceLogits } from './reference-decoder.fixture.js';

const config: ReferenceConfig = {
  model_type: 'qwen3',
  hidden_size: 80,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  intermediate_size: 144,
  vocab_size: 96,
  max_position_embeddings: 256,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  tie_word_embeddings: true,
};
const tensors = randomTensors(decoderShapes(config), 21);
const prompts = [5, 31, 1, 17].map((length, seed) =>
  Array.from({ length }, (_unused, index) => (index * 37 + seed * 11 + 7) % config.vocab_size),
);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-int4-'));
  await writeCheckpoint(join(folder, 'model'), config, tensors);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function open(block: 32 | 128) {
  const precision = { weights: 'int4', kv: 'float', block } as const;
  const model = await compileDecoder(join(folder, 'model'), {
    cacheDir: join(folder, 'cache'),
    ...precision,
  });
  return { model, session: await InferenceSession.create(model.onnxPath, { intraOpNumThreads: 1 }) };
}

/** The tensors as the 4-bit graph has them: rounded weights, and inputs of products that are rounded too. */
function roundedTensors(block: number): FixtureTensors {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, tensor]) => [name, rounded(name, tensor, block)]),
  );
}

function rounded(name: string, tensor: FixtureTensor, block: number): FixtureTensor {
  const [rows = 0, columns = 0] = tensor.shape;
  if (tensor.shape.length !== 2) return tensor;
  const bits = /[qkv]_proj|embed_tokens/.test(name) ? 8 : 4;
  const format = { bits, block, zeroPoints: bits === 4 } as const;
  const blocks = quantizeBlocks(tensor.values, rows, columns, format);
  return { ...tensor, values: dequantizeBlocks(blocks, rows, columns, format), inputBlock: block };
}

const likeliest = (row: readonly number[]): number => row.indexOf(Math.max(...row));

describe.each([32, 128] as const)('a decoder with int4 weights in blocks of %i', (block) => {
  it(
    'writes what a plain forward pass over the same rounded weights writes',
    { timeout: 120_000 },
    async () => {
      const { model, session } = await open(block);
      const reference = roundedTensors(block);
      const answers = await decodeGreedily(session, model, prompts, 16);
      for (const [index, prompt] of prompts.entries()) {
        const ids = [...prompt, ...answers[index]!.slice(0, -1)];
        const rows = referenceLogits(config, reference, ids).slice(prompt.length - 1);
        expect(answers[index]).toEqual(rows.map(likeliest));
      }
    },
  );

  it('gives the logits of that pass, which exact weights do not give', async () => {
    const { model, session } = await open(block);
    const ids = prompts[1]!;
    const driver = new GreedyDriver(session, model, 1, 128);
    const logits = await driver.step({ tokens: [ids], wanted: [[...ids.keys()]] });
    const distance = (rows: readonly number[][]) =>
      Math.max(
        ...rows.flatMap((row, index) => row.map((value, token) => Math.abs(value - logits[index]![token]!))),
      );
    // A value between two steps may be rounded to either of them.
    expect(distance(referenceLogits(config, roundedTensors(block), ids))).toBeLessThan(0.08);
    expect(distance(referenceLogits(config, tensors, ids))).toBeGreaterThan(0.2);
  });

  it('writes the same alone and in a batch', async () => {
    const { model, session } = await open(block);
    const together = await decodeGreedily(session, model, prompts, 24);
    for (const [index, prompt] of prompts.entries())
      expect(await decodeGreedily(session, model, [prompt], 24)).toEqual([together[index]]);
  });
});

it('int8 in blocks loses less where few activations are large, as in published models', async () => {
  const outlying = Object.fromEntries(
    Object.entries(tensors).map(([name, tensor]) => {
      // The matrix behind the norm takes the factor back, so that the model computes the same.
      const isMatrix = /[qkv]_proj\.weight|(gate|up)_proj\.weight/.test(name);
      const factor = name.endsWith('layernorm.weight') ? 40 : isMatrix ? 1 / 40 : 1;
      const isOutlier = (index: number) => index % config.hidden_size === 3;
      const values = tensor.values.map((value, index) => (isOutlier(index) ? factor * value : value));
      return [name, { ...tensor, values }];
    }),
  );
  const directory = join(folder, 'outlying');
  await writeCheckpoint(directory, config, outlying);
  const ids = prompts[1]!;
  const exact = referenceLogits(config, outlying, ids);
  const errorOf = async (form: { block?: 'row' }) => {
    const options = { cacheDir: join(folder, 'cache'), weights: 'int8', kv: 'float', ...form } as const;
    const model = await compileDecoder(directory, options);
    const session = await InferenceSession.create(model.onnxPath, { intraOpNumThreads: 1 });
    const rows = await new GreedyDriver(session, model, 1, 64).step({
      tokens: [ids],
      wanted: [[...ids.keys()]],
    });
    const errors = exact.flatMap((row, index) =>
      row.map((value, token) => Math.abs(value - rows[index]![token]!)),
    );
    return errors.reduce((sum, error) => sum + error, 0) / errors.length;
  };
  expect(await errorOf({})).toBeLessThan(0.75 * (await errorOf({ block: 'row' })));
});
