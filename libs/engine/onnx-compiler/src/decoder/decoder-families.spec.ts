import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type FixtureTensors,
  randomNumbers,
  randomTensors,
  writeCheckpoint,
} from '../checkpoint/checkpoint.fixture.js';
import { type CompiledDecoder, compileDecoder, type CompileDecoderOptions } from './compile-decoder.js';
import { exportModel } from '../export-model.js';
import { decodeGreedily, GreedyDriver } from './greedy-driver.fixture.js';
import {
  decoderFamilies,
  decoderShapes,
  type ReferenceConfig,
  referenceLogits,
} from './reference-decoder.fixture.js';

const base: ReferenceConfig = {
  model_type: 'llama',
  hidden_size: 48,
  num_hidden_layers: 2,
  num_attention_heads: 6,
  num_key_value_heads: 2,
  head_dim: 8,
  intermediate_size: 64,
  vocab_size: 96,
  max_position_embeddings: 256,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  tie_word_embeddings: false,
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-compiler-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Loaded {
  readonly model: CompiledDecoder;
  readonly session: InferenceSession;
  readonly tensors: FixtureTensors;
}

async function load(
  name: string,
  config: ReferenceConfig,
  precision: Pick<CompileDecoderOptions, 'weights' | 'kv' | 'block'>,
  shards = 1,
): Promise<Loaded> {
  const directory = join(folder, name.replaceAll(/\W+/g, '-'));
  const tensors = randomTensors(decoderShapes(config), 11);
  await writeCheckpoint(directory, config, tensors, shards);
  const model = await compileDecoder(directory, { cacheDir: join(folder, 'cache'), ...precision });
  return { model, tensors, session: await InferenceSession.create(model.onnxPath, { intraOpNumThreads: 1 }) };
}

function randomPrompt(seed: number, length: number): number[] {
  const random = randomNumbers(seed);
  return Array.from({ length }, () => Math.floor(((random() + 1) / 2) * base.vocab_size));
}

/** Logits of all positions when the sequence arrives in chunks. */
async function logitsInChunks(
  { session, model }: Pick<Loaded, 'session' | 'model'>,
  ids: readonly number[],
  chunks: readonly number[],
): Promise<Float32Array[]> {
  const driver = new GreedyDriver(session, model, 1, 128);
  const rows: Float32Array[] = [];
  for (let start = 0, index = 0; start < ids.length; index++) {
    const chunk = ids.slice(start, start + (chunks[index] ?? 1));
    rows.push(...(await driver.step({ tokens: [chunk], wanted: [[...chunk.keys()]] })));
    start += chunk.length;
  }
  return rows;
}

function distance(rows: readonly Float32Array[], expected: readonly number[][]): number {
  const differences = expected.flatMap((row, index) =>
    row.map((value, token) => Math.abs(rows[index]![token]! - value)),
  );
  return Math.max(...differences);
}

describe.each(Object.entries(decoderFamilies))('compiled fp32 %s', (name, changes) => {
  const config = { ...base, ...changes };

  // Logits are of the order of 1 and pass some ten float32 operations a layer.
  it('gives the logits of a double-precision forward pass, in one prefill, in chunks and token by token', async () => {
    const loaded = await load(name, config, { weights: 'fp32', kv: 'float' });
    const ids = randomPrompt(3, 40);
    const expected = referenceLogits(config, loaded.tensors, ids);
    for (const chunks of [[40], [7, 20, 13], []])
      expect(distance(await logitsInChunks(loaded, ids, chunks), expected)).toBeLessThan(1e-4);
  });
});

describe('exported decoders', () => {
  it('give the logits of a double-precision forward pass, with and without a past', async () => {
    const directory = join(folder, 'exported');
    const tensors = randomTensors(decoderShapes(base), 11);
    await writeCheckpoint(directory, { ...base, architectures: ['LlamaForCausalLM'] }, tensors);
    const session = await InferenceSession.create(await exportModel(directory, join(folder, 'onnx'), 'fp32'));
    const ids = randomPrompt(3, 20);
    const expected = referenceLogits(base, tensors, ids);
    const first = await runExported(session, ids.slice(0, 13), emptyPast());
    const past = Object.fromEntries(
      Object.entries(emptyPast()).map(([name]) => [name, first[name.replace('past_key_values', 'present')]!]),
    );
    const second = await runExported(session, ids.slice(13), past);
    const rows = [first, second].flatMap(({ logits }) => {
      const data = logits!.data as Float32Array;
      const { vocab_size: width } = base;
      return Array.from({ length: data.length / width }, (_, row) =>
        data.slice(row * width, (row + 1) * width),
      );
    });
    expect(distance(rows, expected)).toBeLessThan(1e-4);
  });
});

/** Past of no positions, as an exporter's graph wants it at the start. */
function emptyPast(): Record<string, Tensor> {
  const entries = Array.from({ length: base.num_hidden_layers }, (_, layer) =>
    ['key', 'value'].map((part) => {
      const dims = [1, base.num_key_value_heads, 0, base.head_dim];
      return [`past_key_values.${layer}.${part}`, new Tensor('float32', new Float32Array(0), dims)] as const;
    }),
  );
  return Object.fromEntries(entries.flat());
}

function runExported(session: InferenceSession, ids: readonly number[], past: Record<string, Tensor>) {
  const start = past['past_key_values.0.key']!.dims[2]!;
  const int64 = (values: readonly number[]): Tensor =>
    new Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
  return session.run({
    input_ids: int64(ids),
    position_ids: int64(ids.map((_, index) => start + index)),
    attention_mask: int64(Array<number>(start + ids.length).fill(1)),
    ...past,
  });
}

describe('compiled decoders', () => {
  const prompts = [5, 31, 1, 64, 17].map((length, index) => randomPrompt(100 + index, length));

  it.each([
    { weights: 'fp32', kv: 'float' },
    { weights: 'fp32', kv: 'int8' },
    { weights: 'int8', block: 'row', kv: 'float' },
    { weights: 'int8', block: 'row', kv: 'int8' },
    { weights: 'int8', kv: 'float' },
    { weights: 'int8', kv: 'int8' },
  ] as const)('decode sequences of mixed length as each alone: %j', async (precision) => {
    const { session, model } = await load('batch', base, precision);
    const together = await decodeGreedily(session, model, prompts, 24);
    for (const [index, prompt] of prompts.entries())
      expect(await decodeGreedily(session, model, [prompt], 24)).toEqual([together[index]]);
  });

  it('say the same in the arithmetic for kernels that saturate', async () => {
    const directory = join(folder, 'batch');
    const logits = async (kernel: 'exact' | 'saturating', kv: 'float' | 'int8') => {
      const model = await compileDecoder(directory, {
        cacheDir: join(folder, 'cache'),
        weights: 'int8',
        block: 'row',
        kv,
        kernel,
      });
      const session = await InferenceSession.create(model.onnxPath, { intraOpNumThreads: 1 });
      return (await logitsInChunks({ session, model }, prompts[3]!, [20, 44])).map((row) => [...row]);
    };
    const rows = (values: number[][]): Float32Array[] => values.map((row) => Float32Array.from(row));
    await load('batch', base, { weights: 'int8', kv: 'float' });
    // Weights are the same numbers; only with an int8 cache are queries and weights of values coarser by a bit.
    expect(distance(rows(await logits('saturating', 'float')), await logits('exact', 'float'))).toBeLessThan(
      1e-4,
    );
    expect(distance(rows(await logits('saturating', 'int8')), await logits('exact', 'int8'))).toBeLessThan(
      0.3,
    );
  });

  it.each(['row', 32] as const)(
    'give bit-identical int8 logits in any batch and capacity: %s',
    async (block) => {
      const { session, model } = await load('batch', base, { weights: 'int8', block, kv: 'float' });
      const steps = async (batch: number, capacity: number): Promise<Float32Array[]> => {
        const driver = new GreedyDriver(session, model, batch, capacity);
        const others = prompts.slice(0, batch - 1);
        const rows: Float32Array[] = [];
        for (const ids of [prompts[3]!, [7], [8], [9]]) {
          const tokens = [ids, ...others.map((prompt) => (ids.length > 1 ? prompt : [1]))];
          rows.push((await driver.step({ tokens, wanted: tokens.map((row) => [row.length - 1]) }))[0]!);
        }
        return rows;
      };
      const alone = await steps(1, 128);
      expect(await steps(4, 128)).toEqual(alone);
      expect(await steps(4, 192)).toEqual(alone);
      expect(await steps(4, 512)).toEqual(alone);
    },
  );

  it('let padding lie behind the last position of the context', async () => {
    const config = { ...base, max_position_embeddings: 128 };
    const { session, model } = await load('short context', config, { weights: 'int8', kv: 'float' });
    expect(model.contextLength).toBe(128);
    const [long, first, rest] = [randomPrompt(1, 127), randomPrompt(2, 1), randomPrompt(3, 64)];
    const pair = new GreedyDriver(session, model, 2, 256);
    await pair.step({ tokens: [long, first], wanted: [[126], [0]] });
    const [, beside] = await pair.step({ tokens: [[5], rest], wanted: [[0], [63]] });
    const single = new GreedyDriver(session, model, 1, 256);
    await single.step({ tokens: [first], wanted: [[0]] });
    const [alone] = await single.step({ tokens: [rest], wanted: [[63]] });
    expect(beside).toEqual(alone);
  });

  it('read a checkpoint in shards', async () => {
    const whole = await load('whole', base, { weights: 'fp32', kv: 'float' });
    const sharded = await load('sharded', base, { weights: 'fp32', kv: 'float' }, 3);
    const logits = async (loaded: Loaded) => logitsInChunks(loaded, prompts[0]!, [5]);
    expect(await logits(sharded)).toEqual(await logits(whole));
  });
});
