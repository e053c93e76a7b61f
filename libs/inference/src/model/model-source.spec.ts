import { createReadStream, existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadEmbedder } from '../encoder/embedder.js';
import { packageRoot } from '../runtime/package-root.js';
import type { DownloadProgress } from './load-options.js';
import { resolveModel } from './model-source.js';

const bundled = path.join(packageRoot(), 'models');

describe('resolveModel', () => {
  let hub: Server;
  let hubEndpoint: string;
  let cacheDirectory: string;
  const requests: string[] = [];

  beforeAll(async () => {
    cacheDirectory = await mkdtemp(path.join(tmpdir(), 'model-cache-'));
    hub = createServer((request, response) => {
      requests.push(request.url!);
      const file = path.join(bundled, request.url!.replace('/acme/nano-embed/resolve/main', 'nano-embed'));
      if (!existsSync(file)) return response.writeHead(404).end();
      return createReadStream(file).pipe(response);
    });
    await new Promise<void>((resolve) => hub.listen(0, '127.0.0.1', resolve));
    hubEndpoint = `http://127.0.0.1:${(hub.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    hub.close();
    await rm(cacheDirectory, { recursive: true });
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
    expect(requests).toEqual([]);
    const progress: DownloadProgress[] = [];
    const options = { hubEndpoint, cacheDirectory, workers: 1 };
    const embedder = await loadEmbedder('acme/nano-embed', {
      ...options,
      allowHub: true,
      onProgress: (step) => progress.push(step),
    });
    expect(embedder.info).toMatchObject({ id: 'acme/nano-embed', maxInputTokens: 256 });
    await embedder.close();
    const graph = progress.filter(({ file }) => file === 'onnx/model_quantized.onnx');
    expect(graph.at(-1)!.loadedBytes).toBe(5_805_516);
    requests.length = 0;
    const { directory } = await resolveModel('acme/nano-embed', options);
    expect(directory).toBe(path.join(cacheDirectory, 'acme', 'nano-embed'));
    expect(requests).toEqual([]);
  });

  it('names what a hub model lacks', async () => {
    const options = { hubEndpoint, cacheDirectory, allowHub: true };
    await expect(resolveModel('acme/other', options)).rejects.toThrow(/"acme\/other" has no config.json/);
  });
});
