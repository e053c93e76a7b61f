import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomNumbers, writeCheckpoint } from '../checkpoint/checkpoint.fixture.js';
import { type CompiledDecoder, compileDecoder } from '../decoder/compile-decoder.js';
import { readDecoderShape } from '../decoder/decoder-config.js';
import { referenceLogits } from '../decoder/reference-decoder.fixture.js';
import { compileVision } from './compile-vision.js';
import {
  referenceEmbeddings,
  type ReferenceVisionConfig,
  smallVision,
  textTensors,
  visionTensors,
} from './reference-vision.fixture.js';
import { readVisionShape } from './vision-config.js';

const tensors = visionTensors(smallVision, 5);
let folder: string;
let directory: string;
let cacheDir: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-vision-'));
  directory = join(folder, 'smolvlm');
  cacheDir = join(folder, 'cache');
  await writeCheckpoint(directory, smallVision, tensors);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const open = (path: string): Promise<InferenceSession> =>
  InferenceSession.create(path, { intraOpNumThreads: 1 });
const side = smallVision.vision_config.image_size;

function randomPixels(seed: number): Float32Array {
  const random = randomNumbers(seed);
  return Float32Array.from({ length: 3 * side * side }, random);
}

/** Embeddings of tiles by a compiled tower. */
async function embed(
  weights: 'fp32' | 'int8',
  tiles: readonly Float32Array[],
  source = directory,
): Promise<number[]> {
  const { onnxPath } = await compileVision(source, { cacheDir, weights });
  const session = await open(onnxPath);
  const pixels = new Float32Array(tiles.length * 3 * side * side);
  tiles.forEach((tile, index) => pixels.set(tile, index * tile.length));
  const { image_embeddings: embeddings } = await session.run({
    pixel_values: new Tensor('float32', pixels, [tiles.length, 3, side, side]),
  });
  await session.release();
  expect(embeddings!.dims).toEqual([tiles.length, 4, smallVision.text_config.hidden_size]);
  return [...(embeddings!.data as Float32Array)];
}

function farthest(values: readonly number[], expected: readonly number[]): number {
  expect(values).toHaveLength(expected.length);
  return Math.max(...expected.map((value, index) => Math.abs(value - values[index]!)));
}

describe('a compiled vision tower', () => {
  const tiles = [randomPixels(1), randomPixels(2), randomPixels(3)];
  const expected = tiles.map((tile) => referenceEmbeddings(smallVision, tensors, tile).flat());

  it('gives the embeddings of a double-precision forward pass, tile by tile and together', async () => {
    expect(farthest(await embed('fp32', tiles), expected.flat())).toBeLessThan(1e-4);
    expect(farthest(await embed('fp32', tiles.slice(1, 2)), expected[1]!)).toBeLessThan(1e-4);
  });

  it('gives nearly the same embeddings with int8 weights', async () => {
    const values = await embed('int8', tiles);
    const length = Math.hypot(...expected.flat());
    const error = Math.hypot(...expected.flat().map((value, index) => value - values[index]!));
    expect(error / length).toBeLessThan(0.03);
  });

  it('has a SmolVLM2 with the same names of tensors', async () => {
    const second = join(folder, 'smolvlm2');
    await writeCheckpoint(second, { ...smallVision, model_type: 'smolvlm' }, tensors);
    expect(await embed('fp32', tiles, second)).toEqual(await embed('fp32', tiles));
  });

  it('has the shape of SmolVLM-256M: 64 embeddings for a tile of 512 pixels', async () => {
    const large = join(folder, 'large');
    await writeCheckpoint(
      large,
      {
        model_type: 'idefics3',
        image_token_id: 49_190,
        scale_factor: 4,
        text_config: { hidden_size: 576 },
        vision_config: { hidden_size: 768, num_attention_heads: 12, image_size: 512, patch_size: 16 },
      },
      {},
    );
    const shape = await readVisionShape(large);
    expect(shape).toMatchObject({ tokensPerTile: 64, tileSize: 512, layers: 12, feedForward: 3072 });
  });

  it.each<[string, object]>([
    ['scale_factor', { ...smallVision, scale_factor: 3 }],
    ['vision heads', { ...smallVision, vision_config: { ...smallVision.vision_config, hidden_size: 34 } }],
    ['vision_config.hidden_act', { ...smallVision, vision_config: { hidden_act: 'quick_gelu' } }],
    ['text_config.model_type', { ...smallVision, text_config: { model_type: 'mamba' } }],
    ['model_type', { ...smallVision, model_type: 'llava' }],
  ])('refuses another %s', async (name, config) => {
    const other = join(folder, `other-${name.replaceAll(/\W/g, '-')}`);
    await writeCheckpoint(other, config, {});
    await expect(readVisionShape(other)).rejects.toThrow(name);
  });
});

describe('the text model of a vision-language model', () => {
  const ids = Array.from({ length: 20 }, (_, index) => (index * 37) % 90);
  const places = [4, 5, 6, 11];

  /** Logits of all positions in one pass with images at some positions. */
  async function logits(
    weights: CompiledDecoder['weights'],
    images: ReadonlyMap<number, readonly number[]>,
    config: ReferenceVisionConfig = smallVision,
  ): Promise<number[][]> {
    const model = await compileDecoder(directory, { cacheDir, weights, kv: 'float' });
    expect(model.imageSize).toBe(config.text_config.hidden_size);
    const session = await open(model.onnxPath);
    const int64 = (values: readonly number[], dims: readonly number[]): Tensor =>
      new Tensor('int64', BigInt64Array.from(values, BigInt), dims);
    const past = Array.from({ length: model.layers }, (_, layer) =>
      ['key', 'value'].map((part) => {
        const dims = [1, model.kvHeads, 64, model.headDim];
        const cache = new Tensor('float32', new Float32Array(model.kvHeads * 64 * model.headDim), dims);
        return [`past_key_values.${layer}.${part}`, cache] as const;
      }),
    );
    const vectors = Float32Array.from([...images.values()].flat());
    const { logits: rows } = await session.run({
      input_ids: int64(ids, [1, ids.length]),
      past_lengths: int64([0], [1]),
      logit_positions: int64([...ids.keys()], [ids.length]),
      image_positions: int64([...images.keys()], [images.size]),
      image_embeddings: new Tensor('float32', vectors, [images.size, config.text_config.hidden_size]),
      ...Object.fromEntries(past.flat()),
    });
    await session.release();
    const width = config.text_config.vocab_size;
    const values = rows!.data as Float32Array;
    return ids.map((_, position) => [...values.subarray(position * width, (position + 1) * width)]);
  }

  const embeddings = referenceEmbeddings(smallVision, tensors, randomPixels(7));
  const images = new Map(places.map((position, index) => [position, embeddings[index]!]));

  it('gives the logits of a double-precision forward pass over words and parts of an image', async () => {
    const expected = referenceLogits(smallVision.text_config, textTensors(tensors), ids, images);
    expect(farthest((await logits('fp32', images)).flat(), expected.flat())).toBeLessThan(1e-4);
  });

  it('gives the logits of a Llama where there is not an image', async () => {
    const none = new Map<number, number[]>();
    const expected = referenceLogits(smallVision.text_config, textTensors(tensors), ids);
    expect(farthest((await logits('fp32', none)).flat(), expected.flat())).toBeLessThan(1e-4);
    expect((await logits('int8', none)).flat()).not.toEqual((await logits('int8', images)).flat());
  });

  it('names the token of images', async () => {
    expect((await readDecoderShape(directory)).imageTokenId).toBe(90);
  });
});
