import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { InferenceSession } from 'onnxruntime-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { randomTensors, writeCheckpoint } from './checkpoint/checkpoint.fixture.js';
import { compileOnce, fileDigest } from './compile-cache.js';
import { compileDecoder } from './decoder/compile-decoder.js';
import { decodeGreedily } from './decoder/greedy-driver.fixture.js';
import { decoderShapes } from './decoder/reference-decoder.fixture.js';
import { UnsupportedModelError } from './config-file.js';

const config = {
  model_type: 'llama',
  hidden_size: 16,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 2,
  head_dim: 8,
  intermediate_size: 16,
  vocab_size: 32,
  max_position_embeddings: 128,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  tie_word_embeddings: true,
};

let folder: string;
let model: string;
let cacheDir: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-cache-'));
  model = join(folder, 'tiny');
  cacheDir = join(folder, 'cache');
  await writeCheckpoint(model, config, randomTensors(decoderShapes(config)));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** What the cache holds beside the hashes of weights. */
const compiledModels = async () => (await readdir(cacheDir)).filter((name) => name !== 'hashes');

describe('the cache of compiled models', () => {
  it('compiles once for the same content and options, anew for others', async () => {
    const compile = (weights: 'fp32' | 'int8') => compileDecoder(model, { cacheDir, weights, kv: 'float' });
    const first = await compile('fp32');
    expect(await compile('fp32')).toEqual(first);
    expect(await compiledModels()).toHaveLength(1);
    const rounded = await compile('int8');
    await writeCheckpoint(model, config, randomTensors(decoderShapes(config), 2));
    const changed = await compile('fp32');
    expect(new Set([first.onnxPath, rounded.onnxPath, changed.onnxPath]).size).toBe(3);
  });

  it('keeps one copy when several compile at once', async () => {
    const compile = () => compileDecoder(model, { cacheDir, weights: 'fp32', kv: 'float' });
    const results = await Promise.all([compile(), compile(), compile()]);
    expect(new Set(results.map(({ onnxPath }) => onnxPath)).size).toBe(1);
    expect(await compiledModels()).toHaveLength(1);
    const session = await InferenceSession.create(results[0].onnxPath);
    expect(await decodeGreedily(session, results[0], [[1, 2, 3]], 4)).toHaveLength(1);
  });

  it('removes what earlier compilers and dead processes left, and nothing else', async () => {
    const names = ['other-v1-0123456789abcdef', '.compiling-dead', '.compiling-alive', 'notes'];
    for (const name of names) await mkdir(join(cacheDir, name), { recursive: true });
    const longAgo = new Date(Date.now() - 2 * 86_400_000);
    await utimes(join(cacheDir, '.compiling-dead'), longAgo, longAgo);
    const { onnxPath } = await compileDecoder(model, { cacheDir, weights: 'fp32', kv: 'float' });
    const kept = ['.compiling-alive', 'notes', basename(dirname(onnxPath))];
    expect((await compiledModels()).sort()).toEqual(kept.sort());
  });

  it('removes a precision that nobody has opened for a week', async () => {
    const compile = (weights: 'fp32' | 'int8') => compileDecoder(model, { cacheDir, weights, kv: 'float' });
    const [unused, used] = [await compile('fp32'), await compile('int8')];
    const folders = [unused, used].map(({ onnxPath }) => dirname(onnxPath));
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
    for (const [index, days] of [6, 8].entries())
      await utimes(join(folders[index]!, 'compiled.json'), daysAgo(days), daysAgo(days));
    // Opening the second makes it a used one.
    await compile('int8');
    expect((await compiledModels()).length).toBe(2);
    await utimes(join(folders[0]!, 'compiled.json'), daysAgo(8), daysAgo(8));
    await compile('int8');
    expect(await compiledModels()).toEqual([basename(folders[1]!)]);
  });

  it('leaves nothing behind when compiling fails', async () => {
    const failing = () => Promise.reject(new Error('disk full'));
    await expect(compileOnce(model, cacheDir, {}, failing)).rejects.toThrow('disk full');
    expect(await compiledModels()).toEqual([]);
  });

  it('refuses a checkpoint with tensors that the graph would leave out', async () => {
    const shapes = { ...decoderShapes(config), 'model.layers.0.self_attn.sinks': [2] };
    await writeCheckpoint(model, config, randomTensors(shapes));
    const failure = await compileDecoder(model, { cacheDir, weights: 'fp32', kv: 'float' }).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(UnsupportedModelError);
    expect((failure as UnsupportedModelError).feature).toBe('tensor model.layers.0.self_attn.sinks');
    expect(await compiledModels()).toEqual([]);
  });

  it('reports a broken config.json as what it is', async () => {
    await writeFile(join(model, 'config.json'), '{');
    await expect(compileDecoder(model, { cacheDir, weights: 'fp32', kv: 'float' })).rejects.toThrow('JSON');
  });
});

describe('hashes of files', () => {
  let folder: string;
  let cacheDir: string;
  let file: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meganest-digest-'));
    file = join(folder, 'weights');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const yesterday = new Date(Date.now() - 86_400_000);
  const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');

  /** Writes the file with a time of change. */
  async function write(text: string, time = yesterday): Promise<void> {
    await writeFile(file, text);
    await utimes(file, time, time);
  }

  /** The one record of the cache. */
  async function recordPath(): Promise<string> {
    const [name = ''] = await readdir(join(cacheDir, 'hashes'));
    return join(cacheDir, 'hashes', name);
  }

  beforeEach(async () => {
    cacheDir = await mkdtemp(join(folder, 'cache-'));
    await write('one');
  });

  describe('fileDigest', () => {
    it('reads a file once', async () => {
      expect(await fileDigest(file, cacheDir)).toBe(digestOf('one'));
      // What the record says is used, so the file was not read again.
      const path = await recordPath();
      await writeFile(path, (await readFile(path, 'utf8')).replace(digestOf('one'), digestOf('kept')));
      expect(await fileDigest(file, cacheDir)).toBe(digestOf('kept'));
    });

    it('reads it again when its size or its time of change is another one', async () => {
      await fileDigest(file, cacheDir);
      await write('three');
      expect(await fileDigest(file, cacheDir)).toBe(digestOf('three'));
      await write('seven', new Date(yesterday.getTime() + 5000));
      expect(await fileDigest(file, cacheDir)).toBe(digestOf('seven'));
    });

    it('does not keep the hash of a file that changed just now', async () => {
      await write('one', new Date());
      expect(await fileDigest(file, cacheDir)).toBe(digestOf('one'));
      await expect(stat(join(cacheDir, 'hashes'))).rejects.toThrow('ENOENT');
    });

    it('makes a damaged record again', async () => {
      await fileDigest(file, cacheDir);
      await writeFile(await recordPath(), '{"identity":');
      expect(await fileDigest(file, cacheDir)).toBe(digestOf('one'));
      expect(await readFile(await recordPath(), 'utf8')).toContain(digestOf('one'));
    });
  });
});
