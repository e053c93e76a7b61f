import { cp } from 'node:fs/promises';
import path from 'node:path';
import {
  createTemporaryDirectory,
  freePort,
  repositoryRoot,
  startNats,
  startService,
} from '#platform/testing';
import { expect, it } from 'vitest';
import { HubServer } from '../../support/hub-server.js';

const weights = 'model.safetensors';

it('a service that downloads its model is alive, not ready, and says how far it is', async () => {
  const [nats, folder, port] = await Promise.all([startNats(), createTemporaryDirectory(), freePort()]);
  const models = path.join(folder.path, 'hub');
  await cp(path.join(repositoryRoot, 'models/nano-embed'), path.join(models, 'acme/embed'), {
    recursive: true,
  });
  const hub = await HubServer.start(models);
  hub.faults.push({ file: weights, kind: 'hold', at: 0.6, times: 1 });
  const held = hub.whenHeld(weights);
  const started = startService('embedding', {
    NATS_URL: nats.url,
    MEGANEST_DATA_DIR: path.join(folder.path, 'data'),
    EMBEDDING_PORT: String(port),
    EMBEDDING_MODEL_ID: 'acme/embed',
    HF_ENDPOINT: hub.url,
    XDG_CACHE_HOME: path.join(folder.path, 'none'),
  });
  await held;
  const get = async (route: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${route}`);
    return { status: response.status, body: (await response.json()) as object };
  };
  expect(await get('/live')).toMatchObject({ status: 200 });
  expect(await get('/ready')).toMatchObject({ status: 503, body: { status: 'not ready' } });
  await expect
    .poll(() => get('/v1/health_check'))
    .toMatchObject({
      status: 503,
      body: {
        status: 'unhealthy',
        downloads: [{ model: 'acme/embed', loadedBytes: expect.any(Number) as number }],
      },
    });
  expect(await get('/v1/embeddings')).toMatchObject({
    status: 503,
    body: { error: { code: 'service_unavailable' } },
  });
  hub.breakHeld();
  const service = await started;
  expect(await get('/v1/health_check')).toMatchObject({ status: 200, body: { status: 'healthy' } });
  await service.stop();
  await Promise.all([hub.close(), nats.stop()]);
  await folder.remove();
});
