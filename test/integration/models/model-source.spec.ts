import { statSync } from 'node:fs';
import { copyFile, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadEmbedder } from '#engine/encoders';
import { loadGenerator } from '#engine/generation';
import { canCompileEncoder, resolveModel } from '#engine/models';
import type { DownloadProgress } from '#engine/models';
import {
  randomTensors,
  writeCheckpoint,
} from '../../../libs/engine/onnx-compiler/src/checkpoint/checkpoint.fixture.js';
import { decoderShapes } from '../../../libs/engine/onnx-compiler/src/decoder/reference-decoder.fixture.js';
import { projectRoot } from '#platform/foundation';
import { HubServer } from '../../support/hub-server.js';

const llama = {
  model_type: 'llama',
  vocab_size: 6144,
  hidden_size: 32,
  intermediate_size: 48,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 8,
  max_position_embeddings: 128,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  tie_word_embeddings: true,
};

const bundled = path.join(projectRoot, 'models');

describe('resolveModel', () => {
  let hub: HubServer;
  let hubEndpoint: string;
  let hubFolder: string;
  let cacheDirectory: string;

  beforeAll(async () => {
    cacheDirectory = await mkdtemp(path.join(tmpdir(), 'model-cache-'));
    hubFolder = await mkdtemp(path.join(tmpdir(), 'model-hub-'));
    await cp(path.join(bundled, 'nano-embed'), path.join(hubFolder, 'acme', 'nano-embed'), {
      recursive: true,
    });
    hub = await HubServer.start(hubFolder);
    hubEndpoint = hub.url;
  });
  afterAll(async () => {
    await hub.close();
    await rm(cacheDirectory, { recursive: true });
    await rm(hubFolder, { recursive: true });
  });

  it('finds bundled models by name and others by folder', async () => {
    const directory = path.join(bundled, 'nano-chat');
    expect(await resolveModel('nano-chat', {})).toEqual({ id: 'nano-chat', directory });
    expect(await resolveModel(directory, {})).toEqual({ id: 'nano-chat', directory });
  });

  it('downloads from the hub only when allowed, shows progress, and is offline afterwards', async () => {
    await expect(resolveModel('acme/nano-embed', { hubEndpoint, cacheDirectory })).rejects.toThrow(
      /downloads are not allowed/,
    );
    expect(hub.requests).toEqual([]);
    const progress: DownloadProgress[] = [];
    const options = { hubEndpoint, cacheDirectory, workers: 1 };
    const embedder = await loadEmbedder('acme/nano-embed', {
      ...options,
      allowHub: true,
      onProgress: (step) => progress.push(step),
    });
    expect(embedder.info).toMatchObject({ id: 'acme/nano-embed', maxInputTokens: 256 });
    await embedder.close();
    const { loadedBytes, totalBytes } = progress.at(-1)!;
    expect(loadedBytes).toBe(totalBytes);
    expect(loadedBytes).toBeGreaterThan(statSync(path.join(bundled, 'nano-embed', 'model.safetensors')).size);
    hub.requests.length = 0;
    const { directory } = await resolveModel('acme/nano-embed', options, canCompileEncoder);
    expect(directory).toContain(path.join(cacheDirectory, 'hub', 'models--acme--nano-embed', 'snapshots'));
    expect(hub.requests).toEqual([]);
  });

  it('fetches the checkpoint of a model that it compiles itself, in all its shards', async () => {
    const directory = path.join(hubFolder, 'acme', 'llama');
    await writeCheckpoint(directory, llama, randomTensors(decoderShapes(llama)), 2);
    for (const file of ['tokenizer.json', 'tokenizer_config.json']) {
      await copyFile(path.join(bundled, 'nano-chat', file), path.join(directory, file));
    }
    const options = { hubEndpoint, cacheDirectory, allowHub: true };
    const generator = await loadGenerator('acme/llama', { ...options, threads: 1 });
    expect(generator.info).toMatchObject({ id: 'acme/llama', backend: 'onnx-cpu compiled int8' });
    expect(generator.fallback).toBeUndefined();
    await generator.close();
  });

  it('says that a model does not exist', async () => {
    const options = { hubEndpoint, cacheDirectory, allowHub: true };
    await expect(resolveModel('acme/other', options)).rejects.toThrow(/"acme\/other" .* does not exist/);
  });
});
