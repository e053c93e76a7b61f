import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { env, pipeline } from '@xenova/transformers';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { modelFolderWith } from '../../models/src/model/model-folder.fixture.js';
import { loadEmbedder, type Embedder } from './embedder.js';

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, index) => sum + value * b[index]!, 0);

describe('nano-embed', () => {
  let embedder: Embedder;
  beforeAll(async () => {
    embedder = await loadEmbedder('nano-embed', { workers: 2 });
  });
  afterAll(() => embedder.close());

  it('describes itself', () => {
    expect(embedder.info).toMatchObject({
      id: 'nano-embed',
      backend: expect.stringMatching(/^onnx-cpu /),
      maxInputTokens: 256,
      dimensions: 384,
      revision: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
  });

  it('gives the same unit vector for the same text, alone and among others', async () => {
    const text = 'NATS is a messaging system.';
    const alone = await embedder.embed([text]);
    const among = await embedder.embed(['Bread is baked.', text, 'A much longer text '.repeat(10)]);
    expect(alone.promptTokens).toBeGreaterThan(5);
    expect(dot(alone.vectors[0]!, alone.vectors[0]!)).toBeCloseTo(1, 5);
    // Sums of floats run in another order in a batch.
    among.vectors[1]!.forEach((value, index) => expect(value).toBeCloseTo(alone.vectors[0]![index]!, 4));
  });

  it('puts similar sentences closer together than others', async () => {
    const { vectors } = await embedder.embed([
      'How do I reset my password?',
      'Reset the password of your account',
      'The recipe needs two eggs and flour',
    ]);
    expect(dot(vectors[0]!, vectors[1]!)).toBeGreaterThan(dot(vectors[0]!, vectors[2]!) + 0.2);
  });

  const exported = modelFolderWith('nano-embed', 'onnx/model_quantized.onnx');
  it.skipIf(!exported)('agrees with the feature-extraction pipeline of transformers.js', async () => {
    env.localModelPath = `${path.dirname(exported!)}/`;
    const extract = await pipeline('feature-extraction', 'nano-embed', { dtype: 'q8' });
    const general = await loadEmbedder(exported!, { workers: 1, engine: 'exporter' });
    const texts = [
      'Streams replay what was published.',
      'When does the office open on Mondays?',
      'Kubernetes',
    ];
    const { vectors } = await general.embed(texts);
    for (const [index, text] of texts.entries()) {
      const expected = await extract(text, { pooling: 'mean', normalize: true });
      // The weights are the same; only the order of sums may differ.
      (expected.data as Float32Array).forEach((value, column) =>
        expect(Math.abs(vectors[index]![column]! - value)).toBeLessThan(1e-4),
      );
    }
    await general.close();
  });

  const checkpoint = modelFolderWith('nano-embed', 'model.safetensors');
  it.skipIf(!checkpoint || !exported)('means the same with the graph that we compile', async () => {
    const cacheDirectory = await mkdtemp(path.join(tmpdir(), 'embedder-'));
    const compiled = await loadEmbedder(checkpoint!, { workers: 1, engine: 'compiled', cacheDirectory });
    const general = await loadEmbedder(exported!, { workers: 1, engine: 'exporter' });
    const texts = ['Streams replay what was published.', 'When does the office open on Mondays?'];
    const [one, other] = await Promise.all([compiled.embed(texts), general.embed(texts)]);
    // Int8 activations: the direction changes by a few degrees at most.
    texts.forEach((_text, index) =>
      expect(dot(one.vectors[index]!, other.vectors[index]!)).toBeGreaterThan(0.995),
    );
    const alone = await compiled.embed([texts[1]!]);
    expect(alone.vectors[0]).toEqual(one.vectors[1]);
    await Promise.all([compiled.close(), general.close()]);
    await rm(cacheDirectory, { recursive: true });
  });

  it('takes token ids in place of texts', async () => {
    const [fromText, fromIds] = await Promise.all([embedder.embed(['a']), embedder.embed([[19]])]);
    expect(fromIds.vectors[0]).toEqual(fromText.vectors[0]);
    await expect(embedder.embed([[19], [99_999]])).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'input[1]',
    });
  });

  it('refuses what is too long, or cuts it on request', async () => {
    const long = 'word '.repeat(400);
    await expect(embedder.embed(['short', long])).rejects.toMatchObject({
      code: 'context_length_exceeded',
      param: 'input[1]',
    });
    const { vectors, promptTokens } = await embedder.embed([long], { truncate: true });
    expect(promptTokens).toBe(256);
    expect(vectors).toHaveLength(1);
  });

  it('spreads many texts over its workers and keeps their order', async () => {
    const texts = Array.from({ length: 200 }, (_, index) => `passage ${index} `.repeat(1 + (index % 20)));
    const { vectors } = await embedder.embed(texts);
    const { vectors: some } = await embedder.embed([texts[7]!, texts[133]!]);
    expect(dot(vectors[7]!, some[0]!)).toBeCloseTo(1, 4);
    expect(dot(vectors[133]!, some[1]!)).toBeCloseTo(1, 4);
  });

  it('drops a cancelled request and refuses beyond its queue', async () => {
    const small = await loadEmbedder('nano-embed', { workers: 1, queueCapacity: 8 });
    const cancelling = new AbortController();
    const cancelled = small.embed(
      Array.from({ length: 50 }, () => 'to be dropped '.repeat(50)),
      {
        signal: cancelling.signal,
      },
    );
    await expect(small.embed(['one more'])).rejects.toMatchObject({ code: 'overloaded', retryAfter: 1 });
    cancelling.abort();
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
    expect((await small.embed(['one more'])).vectors).toHaveLength(1);
    await small.close();
  });

  it('says what it looked for when there is no such model', async () => {
    await expect(loadEmbedder('no-such-model')).rejects.toThrow(/no-such-model.*neither/s);
    await expect(loadEmbedder('organization/model')).rejects.toThrow(/downloads are not allowed/);
    await expect(loadEmbedder('nano-embed', { device: 'cuda' })).rejects.toThrow(/cuda/i);
  });
});
