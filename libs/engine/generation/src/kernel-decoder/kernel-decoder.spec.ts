import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  compileDecoder,
  OnnxTensors,
  readDecoderShape,
  type CompiledDecoder,
  type WeightBlock,
} from '#engine/onnx-compiler';
import { randomTensors, writeCheckpoint } from '../../../onnx-compiler/src/checkpoint/checkpoint.fixture.js';
import {
  decoderFamilies,
  decoderShapes,
  smallLlama,
  type ReferenceConfig,
} from '../../../onnx-compiler/src/decoder/reference-decoder.fixture.js';
import { CompiledOnnxBackend } from '../backends/compiled-onnx-backend.js';
import { bytesPerPosition, type KvSequence } from '../kv-cache/kv-cache.js';
import { weightBytes } from './kernel-weights.js';
import { KernelDecoder } from './kernel-decoder.js';

/** The vocabulary is not a multiple of four rows, and large enough for threads to share its product. */
const base: ReferenceConfig = {
  ...smallLlama,
  vocab_size: 2201,
  max_position_embeddings: 512,
  rms_norm_eps: 1e-5,
};

/** Families that set the width of heads get one that the kernels support, and that is not hidden / heads. */
const families: Record<string, Partial<ReferenceConfig>> = {
  ...Object.fromEntries(
    Object.entries(decoderFamilies).map(([name, changes]) => [
      name,
      changes.head_dim ? { ...changes, head_dim: 32 } : changes,
    ]),
  ),
  'a Llama with one head a KV head': { num_key_value_heads: base.num_attention_heads },
  'a Llama with an output matrix of its own': { tie_word_embeddings: false },
};

const hasRelaxedSimd = Number(process.versions.node.split('.')[0]) >= 22;
const ample = { sequenceBytes: 2 ** 26, prefixBytes: 0 };
const settings = { device: 'cpu', threads: 1 } as const;
const limits = { maxBytes: 2 ** 26, threads: 2, wideThreads: 3 };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kernel-decoder-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Loaded {
  readonly directory: string;
  readonly model: CompiledDecoder;
  readonly graph: CompiledOnnxBackend;
  readonly kernels: CompiledOnnxBackend;
  readonly close: () => Promise<void>;
}

interface LoadOptions {
  readonly kernel?: 'exact' | 'saturating';
  readonly weights?: 'int8' | 'int4';
  readonly block?: WeightBlock;
}

/** Compiles a random model and opens it with the graph alone, and with the kernels beside the graph. */
async function load(
  name: string,
  config: ReferenceConfig,
  kv: 'float' | 'int8',
  { kernel = 'exact', weights = 'int8', block = weights === 'int8' ? 'row' : 32 }: LoadOptions = {},
): Promise<Loaded> {
  const directory = join(folder, name.replaceAll(/\W+/g, '-'));
  await writeCheckpoint(directory, config, randomTensors(decoderShapes(config), 11));
  const model = await compileDecoder(directory, {
    cacheDir: join(folder, 'cache'),
    weights,
    kv,
    kernel,
    block,
  });
  const decoder = await KernelDecoder.load(directory, model, limits);
  const graph = await CompiledOnnxBackend.load(model, settings, ample);
  const kernels = await CompiledOnnxBackend.load(model, settings, ample, decoder);
  return {
    directory,
    model,
    graph,
    kernels,
    close: async () => {
      await graph.dispose();
      await kernels.dispose();
    },
  };
}

const tokensOf = (count: number, seed = 1): number[] =>
  Array.from({ length: count }, (_unused, index) => (index * 7919 + seed * 104_729) % base.vocab_size);

async function open(
  backend: CompiledOnnxBackend,
  prompt: readonly number[],
  speculative = true,
): Promise<KvSequence> {
  const sequence = backend.openSequence(prompt, { speculative });
  for (let start = 0; start < prompt.length; start += backend.prefillChunk)
    await backend.prefill({ sequence, tokens: prompt.slice(start, start + backend.prefillChunk), logits: 0 });
  return sequence;
}

async function step(backend: CompiledOnnxBackend, sequence: KvSequence, tokens: readonly number[]) {
  const [logits] = await backend.decode([{ sequence, tokens, logits: tokens.length }]);
  return logits!.slice(-base.vocab_size);
}

const distance = (left: Float32Array, right: Float32Array): number =>
  Math.max(...left.map((value, index) => Math.abs(value - right[index]!)));

const median = (values: readonly number[]): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]!;

const forms = Object.entries(families).flatMap(([name, changes]) =>
  (['float', 'int8'] as const).map((kv) => ({ name, kv, config: { ...base, ...changes } })),
);

// A sum in another order can round an integer differently, which shows in all logits of the token.
describe.each(forms)('$name, cache $kv', ({ name, kv, config }) => {
  it('gives the logits of the graph, behind prompts and its own tokens', async () => {
    const { graph, kernels, close } = await load(name, config, kv);
    for (const length of [3, 70]) {
      const [expected, found] = [await open(graph, tokensOf(length)), await open(kernels, tokensOf(length))];
      const distances: number[] = [];
      for (const token of tokensOf(80, 5))
        distances.push(distance(await step(kernels, found, [token]), await step(graph, expected, [token])));
      expect(Math.max(...distances)).toBeGreaterThan(0);
      expect(median(distances)).toBeLessThan(1e-3);
      expect(Math.max(...distances)).toBeLessThan(kernels.draftMargin);
      // A second sequence of the batch would take the graph.
      for (const sequence of [expected, found]) sequence.release();
    }
    await close();
  });
});

it('rounds as a graph for processors whose products saturate', async () => {
  const { graph, kernels, close } = await load('saturating', base, 'int8', { kernel: 'saturating' });
  const [expected, found] = [await open(graph, tokensOf(30)), await open(kernels, tokensOf(30))];
  const distances: number[] = [];
  for (const token of tokensOf(40, 5))
    distances.push(distance(await step(kernels, found, [token]), await step(graph, expected, [token])));
  expect(median(distances)).toBeLessThan(1e-3);
  await close();
});

describe.each(['float', 'int8'] as const)('a decoder of few tokens, cache %s', (kv) => {
  let loaded: Loaded;
  beforeAll(async () => {
    loaded = await load(`plain ${kv}`, base, kv);
  });
  afterAll(() => loaded.close());

  it('follows a sequence through passes over several tokens, truncation and other sequences', async () => {
    const { graph, kernels } = loaded;
    const run = async (backend: CompiledOnnxBackend) => {
      const sequences = [await open(backend, tokensOf(20)), await open(backend, tokensOf(33, 2))] as const;
      const [first, second] = sequences;
      const rows = [await step(backend, first, [5]), await step(backend, first, [6, 7, 8])];
      first.truncate(22);
      rows.push(await step(backend, first, [9]));
      rows.push(await step(backend, first, [10]));
      const both = sequences.map((sequence) => ({ sequence, tokens: [11], logits: 1 }));
      for (const logits of await backend.decode(both)) rows.push(logits.slice());
      const fork = first.fork();
      first.release();
      second.release();
      rows.push(await step(backend, fork, [12]), await step(backend, fork, [13]));
      return rows;
    };
    const [expected, found] = [await run(graph), await run(kernels)];
    for (const [index, row] of found.entries()) expect(distance(row, expected[index]!)).toBeLessThan(0.3);
    expect(median(found.map((row, index) => distance(row, expected[index]!)))).toBeLessThan(1e-3);
  });

  it('computes a token alone and beside other sequences, the same to the last bit', async () => {
    const { kernels, directory, model } = loaded;
    const decoder = await KernelDecoder.load(directory, model, limits);
    const run = async (seeds: readonly number[], passes: readonly (readonly number[])[]) => {
      const sequences: KvSequence[] = [];
      for (const seed of seeds) sequences.push(await open(kernels, tokensOf(10 + seed, seed)));
      const rows: number[][] = seeds.map(() => []);
      for (const tokens of passes) {
        const items = sequences.map((sequence) => ({ sequence, tokens, logits: tokens.length }));
        expect(decoder!.takes(items)).toBe(true);
        const logits = await kernels.decode(items);
        for (const [row, found] of logits.entries()) rows[row]!.push(...found);
      }
      for (const sequence of sequences) sequence.release();
      return rows;
    };
    const [first, second] = [await run([1], [[3], [4], [5]]), await run([2], [[3], [4], [5]])];
    expect(await run([1, 2], [[3], [4], [5]])).toEqual([...first, ...second]);
    const sequence = await open(kernels, tokensOf(5));
    expect(decoder!.takes([{ sequence, tokens: [3, 4], logits: 1 }])).toBe(false);
    sequence.release();
    decoder!.close();
  });

  it('keeps the logits of sequences apart that are computed in two passes', async () => {
    const { kernels } = loaded;
    const run = async (kinds: readonly boolean[]) => {
      const items = [];
      for (const kind of kinds) {
        const sequence = await open(kernels, tokensOf(kind ? 20 : 33, 3), kind);
        items.push({ sequence, tokens: [kind ? 5 : 6], logits: 1 });
      }
      const rows = (await kernels.decode(items)).map((row) => [...row]);
      for (const { sequence } of items) sequence.release();
      return rows;
    };
    expect(await run([true, false])).toEqual([...(await run([true])), ...(await run([false]))]);
  });

  it('does not give the mirror of a running sequence to another one', async () => {
    const { kernels, directory, model } = loaded;
    const [first, second] = [await open(kernels, tokensOf(9)), await open(kernels, tokensOf(9, 2))];
    const [one, other] = [first, second].map((sequence) => ({ sequence, tokens: [1], logits: 1 }));
    // Enough for the weights and one mirror of 512 positions.
    const tensors = await OnnxTensors.open(model.onnxPath);
    const bytes = weightBytes(await readDecoderShape(directory), tensors) + 512 * bytesPerPosition(model);
    await tensors.close();
    const decoder = await KernelDecoder.load(directory, model, { ...limits, maxBytes: bytes });
    expect(decoder!.takes([one!, other!])).toBe(false);
    for (let pass = 0; pass < 40; pass++) {
      expect(decoder!.takes([one!])).toBe(true);
      decoder!.decode([one!]);
      expect(decoder!.takes([other!])).toBe(false);
    }
    decoder!.forget(first);
    expect(decoder!.takes([other!])).toBe(true);
    for (const sequence of [first, second]) sequence.release();
    decoder!.close();
  });

  /** Logits of three tokens behind each of `count` repeatable sequences that run together; the last one is as long as a mirror. */
  async function repeatable(backend: CompiledOnnxBackend, seeds: readonly number[]): Promise<number[][]> {
    const sequences: KvSequence[] = [];
    for (const seed of seeds) {
      const prompt = tokensOf(seed === 12 ? 511 : 10 + seed, seed);
      const sequence = backend.openSequence(prompt, { repeatable: true });
      for (let start = 0; start < prompt.length; start += backend.prefillChunk)
        await backend.prefill({
          sequence,
          tokens: prompt.slice(start, start + backend.prefillChunk),
          logits: 0,
        });
      sequences.push(sequence);
    }
    const rows: number[][] = seeds.map(() => []);
    for (const token of [3, 4, 5]) {
      const items = sequences.map((sequence) => ({ sequence, tokens: [token], logits: 1 }));
      for (const [row, found] of (await backend.decode(items)).entries()) rows[row]!.push(...found);
    }
    for (const sequence of sequences) sequence.release();
    return rows;
  }

  it('computes repeatable sequences the same to the last bit, in any number and behind the last mirror', async () => {
    const seeds = [...Array(13).keys()];
    const alone: number[][] = [];
    for (const seed of seeds) alone.push(...(await repeatable(loaded.kernels, [seed])));
    for (const count of [2, 3, 8, 13]) {
      const some = seeds.slice(-count);
      expect(await repeatable(loaded.kernels, some)).toEqual(alone.slice(-count));
    }
  });

  it('computes repeatable sequences with fewer mirrors than sequences', async () => {
    const { directory, model } = loaded;
    const tensors = await OnnxTensors.open(model.onnxPath);
    const bytes = weightBytes(await readDecoderShape(directory), tensors) + 2 * 512 * bytesPerPosition(model);
    await tensors.close();
    const decoder = await KernelDecoder.load(directory, model, { ...limits, maxBytes: bytes });
    const few = await CompiledOnnxBackend.load(model, settings, ample, decoder);
    const seeds = [1, 2, 3, 4, 5];
    expect(await repeatable(few, seeds)).toEqual(await repeatable(loaded.kernels, seeds));
    await few.dispose();
  });

  it('leaves sequences beyond its memory to the graph', async () => {
    const { directory, model, graph } = loaded;
    expect(await KernelDecoder.load(directory, model, { ...limits, maxBytes: 1000 })).toBeUndefined();
    const decoder = await KernelDecoder.load(directory, model, limits);
    const sequence = await open(graph, tokensOf(511));
    const next = { sequence, tokens: [1], logits: 1 };
    expect(decoder!.takes([next])).toBe(true);
    await graph.decode([next]);
    expect(decoder!.takes([next])).toBe(false);
    expect(decoder!.takes(Array.from({ length: 9 }, () => next))).toBe(false);
  });
});

// Node 20 lacks relaxed SIMD, which weights in 4 bits need.
const blockForms = (hasRelaxedSimd ? (['int8', 'int4'] as const) : (['int8'] as const)).flatMap((weights) =>
  ([32, 128] as const).flatMap((block) =>
    (['float', 'int8'] as const).flatMap((kv) =>
      [true, false].map((tied) => ({ weights, block, kv, tied, name: `${weights} ${block} ${kv} ${tied}` })),
    ),
  ),
);

describe('weights in blocks', () => {
  it.each(blockForms)('give the logits of the graph: $name', async ({ name, weights, block, kv, tied }) => {
    // The last block of a row is shorter.
    const config = { ...base, hidden_size: 144, intermediate_size: 208, tie_word_embeddings: tied };
    const { graph, kernels, close } = await load(`blocks ${name}`, config, kv, { weights, block });
    const distances: number[] = [];
    // A key that was rounded differently stays in the cache, so that the sequences are short.
    for (let seed = 1; seed <= 12; seed++) {
      const prompt = tokensOf(20, seed);
      const [expected, found] = [await open(graph, prompt), await open(kernels, prompt)];
      for (const token of tokensOf(4, seed + 20))
        distances.push(distance(await step(kernels, found, [token]), await step(graph, expected, [token])));
      for (const sequence of [expected, found]) sequence.release();
    }
    expect(Math.max(...distances)).toBeGreaterThan(0);
    expect(median(distances)).toBeLessThan(1e-3);
    expect(Math.max(...distances)).toBeLessThan(kernels.draftMargin);
    await close();
  });

  it.each(hasRelaxedSimd ? (['int8', 'int4'] as const) : (['int8'] as const))(
    'give the same logits alone and beside seven other sequences: %s',
    async (weights) => {
      const { kernels, close } = await load(`blocks ${weights}`, base, 'float', { weights, block: 32 });
      const run = async (seeds: readonly number[]) => {
        const items = [];
        for (const seed of seeds) {
          const prompt = tokensOf(9 + seed, seed);
          const sequence = kernels.openSequence(prompt, { repeatable: true });
          await kernels.prefill({ sequence, tokens: prompt, logits: 0 });
          items.push({ sequence, tokens: [seed], logits: 1 });
        }
        const rows = (await kernels.decode(items)).map((row) => [...row]);
        for (const { sequence } of items) sequence.release();
        return rows;
      };
      const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
      const together = await run(seeds);
      for (const [index, seed] of seeds.entries()) expect(await run([seed])).toEqual([together[index]]);
      await close();
    },
  );
});

it('does not take weights in other precisions, or widths that are not multiples of 16', async () => {
  const directory = join(folder, 'narrow');
  const config = { ...base, head_dim: 8 };
  await writeCheckpoint(directory, config, randomTensors(decoderShapes(config), 11));
  for (const weights of ['int8', 'fp32'] as const) {
    const model = await compileDecoder(directory, { cacheDir: join(folder, 'cache'), weights, kv: 'float' });
    expect(await KernelDecoder.load(directory, model, limits)).toBeUndefined();
  }
});
