import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InferenceSession } from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomTensors, writeCheckpoint } from '../checkpoint/checkpoint.fixture.js';
import { SafetensorsReader } from '../checkpoint/safetensors.js';
import type { LinearMode } from '../quantization/linear.js';
import { compileDecoder, type WeightPrecision } from './compile-decoder.js';
import { readDecoderShape } from './decoder-config.js';
import { DecoderGraphWriter, DecoderWeights } from './decoder-graph.js';
import { ExternalKvAttention, type KvPrecision } from './external-kv-attention.js';
import { GreedyDriver } from './greedy-driver.fixture.js';
import { decoderShapes } from './reference-decoder.fixture.js';

/** As many layers, heads and products as SmolLM-135M, which are what the operators follow; narrower. */
const config = {
  model_type: 'llama',
  hidden_size: 36,
  num_hidden_layers: 30,
  num_attention_heads: 9,
  num_key_value_heads: 3,
  head_dim: 4,
  intermediate_size: 32,
  vocab_size: 48,
  max_position_embeddings: 256,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  tie_word_embeddings: true,
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-graph-'));
  await writeCheckpoint(join(folder, 'deep'), config, randomTensors(decoderShapes(config), 4));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function countOperators(linear: LinearMode, kv: KvPrecision): Promise<number> {
  const directory = join(folder, 'deep');
  const shape = await readDecoderShape(directory);
  const reader = await SafetensorsReader.open(directory);
  const { nodes } = new DecoderGraphWriter(shape, new DecoderWeights(reader, shape), {
    linear,
    kernel: 'exact',
    attention: (graph, decoder, inputIds) => new ExternalKvAttention(graph, decoder, kv, inputIds),
  }).write();
  await reader.close();
  return nodes.length;
}

describe('the graph of a decoder of 30 layers', () => {
  const int4 = { bits: 4, block: 128, zeroPoints: true } as const;

  it.each([
    ['int4 weights, float cache', int4, 'float', 860],
    ['int4 weights, int8 cache', int4, 'int8', 1490],
    ['int8 weights, float cache', 'int8-row', 'float', 1340],
    ['int8 weights, int8 cache', 'int8-row', 'int8', 1970],
  ] as const)('has few operators: %s', async (_name, linear, kv, most) => {
    expect(await countOperators(linear, kv)).toBeLessThanOrEqual(most);
  });
});

describe('rows of zeros', () => {
  const shallow = { ...config, num_hidden_layers: 2 };

  it.each(['float', 'int8'] as const)('are zeros after quantization too, KV %s', async (kv) => {
    const directory = join(folder, 'zeros');
    const tensors = randomTensors(decoderShapes(shallow), 4);
    for (const [name, { values }] of Object.entries(tensors)) if (name.includes('v_proj')) values.fill(0);
    await writeCheckpoint(directory, shallow, tensors);
    const logits = async (weights: WeightPrecision, cache: KvPrecision) => {
      const cacheDir = join(folder, 'cache');
      const model = await compileDecoder(directory, { cacheDir, weights, kv: cache });
      const session = await InferenceSession.create(model.onnxPath, { intraOpNumThreads: 1 });
      const driver = new GreedyDriver(session, model, 1, 128);
      const prompt = await driver.step({ tokens: [[1, 2, 3]], wanted: [[0, 1, 2]] });
      return [...prompt, ...(await driver.step({ tokens: [[4]], wanted: [[0]] }))].flatMap((row) => [...row]);
    };
    const exact = await logits('fp32', 'float');
    for (const [index, value] of (await logits('int8', kv)).entries())
      expect(Math.abs(value - exact[index]!)).toBeLessThan(0.3);
  });
});
