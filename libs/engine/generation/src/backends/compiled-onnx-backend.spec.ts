import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { compileDecoder, type CompiledDecoder } from '#engine/onnx-compiler';
import { randomTensors, writeCheckpoint } from '../../../onnx-compiler/src/checkpoint/checkpoint.fixture.js';
import { decoderShapes, smallLlama } from '../../../onnx-compiler/src/decoder/reference-decoder.fixture.js';
import { likeliestToken } from '../sampling/choose-token.js';
import { CompiledOnnxBackend } from './compiled-onnx-backend.js';
import { type KvSequence, bytesPerPosition } from '../kv-cache/kv-cache.js';

const config = { ...smallLlama, vocab_size: 200, max_position_embeddings: 1024, rms_norm_eps: 1e-5 };

const prompt = (length: number, seed = 1) =>
  Array.from({ length }, (_unused, index) => (index * 7919 + seed * 104_729) % config.vocab_size);

const ample = { sequenceBytes: 2 ** 26, prefixBytes: 2 ** 24 };

describe.each([
  { weights: 'fp32', kv: 'float' },
  { weights: 'int8', block: 'row', kv: 'float' },
  { weights: 'int8', block: 'row', kv: 'int8' },
  { weights: 'int8', block: 32, kv: 'int8' },
  { weights: 'int4', block: 32, kv: 'float' },
] as const)('CompiledOnnxBackend, weights $weights $block, cache $kv', ({ weights, block, kv }) => {
  let folder: string;
  let model: CompiledDecoder;
  const backends: CompiledOnnxBackend[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'compiled-onnx-backend-'));
    await writeCheckpoint(path.join(folder, 'model'), config, randomTensors(decoderShapes(config)));
    model = await compileDecoder(path.join(folder, 'model'), { cacheDir: folder, weights, block, kv });
  });
  afterAll(async () => {
    for (const backend of backends) await backend.dispose();
    await rm(folder, { recursive: true });
  });

  async function open(memory = ample): Promise<CompiledOnnxBackend> {
    const backend = await CompiledOnnxBackend.load(model, { device: 'cpu', threads: 1 }, memory);
    backends.push(backend);
    return backend;
  }

  /** Puts a prompt in; returns the logits behind its last token, valid until the next pass. */
  async function prefill(backend: CompiledOnnxBackend, sequence: KvSequence): Promise<Float32Array> {
    let logits = new Float32Array(0);
    while (sequence.length < sequence.prompt.length) {
      const tokens = sequence.prompt.slice(sequence.length, sequence.length + backend.prefillChunk);
      const last = sequence.length + tokens.length === sequence.prompt.length;
      logits = (await backend.prefill({
        sequence,
        tokens,
        logits: last ? 1 : 0,
      })) as Float32Array<ArrayBuffer>;
    }
    return logits;
  }

  /** Greedy tokens of several prompts that advance together; each ends after its own number of tokens. */
  async function decodeTogether(backend: CompiledOnnxBackend, prompts: number[][], counts: number[]) {
    const sequences = prompts.map((tokens) => backend.openSequence(tokens));
    const answers: number[][] = [];
    for (const sequence of sequences) answers.push([likeliestToken(await prefill(backend, sequence))]);
    for (;;) {
      const active = sequences
        .map((_sequence, index) => index)
        .filter((index) => answers[index]!.length < counts[index]!);
      if (active.length === 0) return answers;
      const items = active.map((index) => ({
        sequence: sequences[index]!,
        tokens: [answers[index]!.at(-1)!],
        logits: 1,
      }));
      const logits = await backend.decode(items);
      active.forEach((index, row) => {
        answers[index]!.push(likeliestToken(logits[row]!));
        if (answers[index]!.length === counts[index]) sequences[index]!.release();
      });
    }
  }

  it('writes the same tokens alone and in any batch, as sequences come, grow and go', async () => {
    const lengths = [5, 120, 64, 200, 30, 500];
    const counts = [40, 20, 30, 9, 35, 25];
    const prompts = lengths.map((length, seed) => prompt(length, seed));
    const alone = [];
    for (const [index, tokens] of prompts.entries()) {
      alone.push(...(await decodeTogether(await open(), [tokens], [counts[index]!])));
    }
    const backend = await open();
    expect(await decodeTogether(backend, prompts, counts)).toEqual(alone);
    expect(await decodeTogether(backend, prompts.slice(1, 4), counts.slice(1, 4))).toEqual(alone.slice(1, 4));
    expect(backend.hasRoomFor(ample.sequenceBytes / 1024)).toBe(true);
  });

  it('takes the beginning of an earlier prompt from the cache, and gives exactly what it gave cold', async () => {
    const backend = await open();
    const cold = backend.openSequence(prompt(200));
    const expected = (await prefill(backend, cold)).slice();
    const warm = backend.openSequence(prompt(200));
    expect(warm.length).toBe(192);
    expect(await prefill(backend, warm)).toEqual(expected);
    const other = backend.openSequence([...prompt(130), ...prompt(70, 9)]);
    expect(other.length).toBe(128);
    // The last token's logits have to be computed.
    expect(backend.openSequence(prompt(192)).length).toBe(128);
    expect(backend.openSequence(prompt(192, 5)).length).toBe(0);
  });

  it('forgets the least recently used beginnings beyond its bytes', async () => {
    const block = 64 * bytesPerPosition(model);
    const backend = await open({ ...ample, prefixBytes: 3 * block });
    await prefill(backend, backend.openSequence(prompt(130, 1)));
    await prefill(backend, backend.openSequence(prompt(70, 2)));
    backend.openSequence(prompt(130, 1));
    await prefill(backend, backend.openSequence(prompt(70, 3)));
    expect(backend.openSequence(prompt(130, 1)).length).toBe(128);
    expect(backend.openSequence(prompt(70, 2)).length).toBe(0);
    expect(backend.openSequence(prompt(70, 3)).length).toBe(64);
  });

  it('continues forks independently', async () => {
    const backend = await open();
    const first = backend.openSequence(prompt(70));
    await prefill(backend, first);
    const second = first.fork();
    const step = (sequence: KvSequence, token: number) => ({ sequence, tokens: [token], logits: 1 });
    const [a, b] = await backend.decode([step(first, 1), step(second, 2)]);
    expect(a).not.toEqual(b);
    const [a2, b2] = await backend.decode([step(first, 2), step(second, 2)]);
    expect(a2).not.toEqual(b2);
    first.release();
    const b3 = (await backend.decode([step(second, 3)]))[0]!.slice();
    const third = backend.openSequence(prompt(70));
    await prefill(backend, third);
    let c3: Float32Array | undefined;
    for (const token of [2, 2, 3]) [c3] = await backend.decode([step(third, token)]);
    expect(b3).toEqual(c3);
  });

  it('takes tokens back and checks several at a time within its margin', async () => {
    const backend = await open();
    const plain = backend.openSequence(prompt(100));
    const drafted = backend.openSequence(prompt(100), { speculative: true });
    await prefill(backend, plain);
    await prefill(backend, drafted);
    const tokens = prompt(4, 7);
    const expected: Float32Array[] = [];
    for (const token of tokens) {
      const [logits] = await backend.decode([{ sequence: plain, tokens: [token], logits: 1 }]);
      expected.push(logits!.slice());
    }
    await backend.decode([{ sequence: drafted, tokens: [1, 2, 3], logits: 3 }]);
    drafted.truncate(100);
    const [rows] = await backend.decode([{ sequence: drafted, tokens, logits: 4 }]);
    expected
      .flatMap((row) => [...row])
      .forEach((value, index) => {
        expect(Math.abs(rows![index]! - value)).toBeLessThan(backend.draftMargin);
      });
  });

  it('frees new keys and values with their pass, and logits with the next one', async () => {
    const backend = await open();
    const returned: { name: string; bytes: ArrayBufferLike }[] = [];
    const session = backend['session'];
    const run = session.run.bind(session);
    vi.spyOn(session, 'run').mockImplementation(async (feeds, fetches) => {
      const outputs = await run(feeds, fetches as string[]);
      for (const [name, { data }] of Object.entries(outputs))
        returned.push({ name, bytes: (data as Float32Array).buffer });
      return outputs;
    });
    const held = () => returned.filter(({ bytes }) => bytes.byteLength > 0);
    const sequences = [prompt(70), prompt(40, 2)].map((tokens) => backend.openSequence(tokens));
    for (const sequence of sequences) {
      await prefill(backend, sequence);
      expect(held()).toEqual([returned.findLast(({ name }) => name === 'logits')]);
    }
    for (let step = 0; step < 3; step++) {
      const rows = await backend.decode(
        sequences.map((sequence) => ({ sequence, tokens: [step], logits: 1 })),
      );
      expect(rows.map(({ length }) => length)).toEqual([config.vocab_size, config.vocab_size]);
      expect(held()).toEqual([{ name: 'logits', bytes: rows[0]!.buffer }]);
    }
    expect(returned.length).toBe(kv === 'float' ? 11 : 17);
  });

  it('keeps the logits of batches of different lengths for the same time', async () => {
    const backend = await open();
    const sequences = [prompt(30), prompt(600, 2)].map((tokens) => backend.openSequence(tokens));
    for (const sequence of sequences) await prefill(backend, sequence);
    const items = sequences.map((sequence) => ({ sequence, tokens: [1], logits: 1 }));
    const [short, long] = await backend.decode(items);
    expect([short!.length, long!.length]).toEqual([config.vocab_size, config.vocab_size]);
    expect(short).not.toEqual(long);
  });

  it('knows when its memory is spent', async () => {
    const backend = await open({ sequenceBytes: 100_000, prefixBytes: 0 });
    expect(backend.hasRoomFor(100)).toBe(true);
    expect(backend.hasRoomFor(10_000)).toBe(false);
    const sequence = backend.openSequence(prompt(100));
    expect(backend.hasRoomFor(100)).toBe(kv === 'int8');
    sequence.release();
    sequence.release();
    expect(backend.hasRoomFor(100)).toBe(true);
  });
});
