import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tinyWhisper, writeWhisperModel } from '../../../../../test/support/whisper-model.js';
import type { Matrix } from '../checkpoint/matrix.js';
import { SafetensorsReader } from '../checkpoint/safetensors.js';
import { quantizeLazily, quantizeRows } from '../quantization/quantize.js';
import { readWhisperShape, WhisperWeights } from './whisper-model.js';

const { hidden, heads } = tinyWhisper;
/** 1 / √(width of a head): the attention has no scale of its own. */
const scale = (hidden / heads) ** -0.5;
let folder: string;
let reader: SafetensorsReader;
let weights: WhisperWeights;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-whisper-weights-'));
  await writeWhisperModel(folder, tinyWhisper, { seed: 3 });
  reader = await SafetensorsReader.open(folder);
  weights = new WhisperWeights(reader, await readWhisperShape(folder));
});
afterAll(async () => {
  await reader?.close();
  await rm(folder, { recursive: true, force: true });
});

const stored = (name: string) => reader.readFloat32(`model.decoder.layers.0.${name}.weight`);
const scaled = (values: Float32Array) => values.map((value) => value * scale);

/** A matrix is read whole for float weights, and in pieces for int8. */
async function readBothWays(matrix: Matrix) {
  const parts = quantizeLazily(matrix);
  return { exact: await matrix.read(), values: await parts.values(), scales: await parts.scales() };
}

const bothWays = (exact: Float32Array) => ({
  exact,
  ...quantizeRows(exact, exact.length / hidden, hidden),
});

it('scales the queries of both attentions, with float and with int8 weights', async () => {
  const { crossQuery, queryKeyValue } = weights.decoderLayer(0);
  expect(await readBothWays(crossQuery.weight)).toEqual(
    bothWays(scaled(await stored('encoder_attn.q_proj'))),
  );
  const [query, key, value] = await Promise.all(
    ['q', 'k', 'v'].map((part) => stored(`self_attn.${part}_proj`)),
  );
  const joint = Float32Array.of(...scaled(query!), ...key!, ...value!);
  expect(await readBothWays(queryKeyValue.weight)).toEqual(bothWays(joint));
});

it('scales the biases of queries; keys have none', async () => {
  const bias = await reader.readFloat32('model.decoder.layers.0.self_attn.q_proj.bias');
  const joint = await weights.decoderLayer(0).queryKeyValue.bias!.read();
  expect(joint.subarray(0, hidden)).toEqual(scaled(bias));
  expect(joint.subarray(hidden, 2 * hidden)).toEqual(new Float32Array(hidden));
});
