import { afterEach, expect, it } from 'vitest';
import { sendJson, startEngine, type TestEngine } from '../engine.fixture.js';
import { findLocalEngines } from './local-engines.js';

const engines: TestEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

async function start(answers: Parameters<typeof startEngine>[0]): Promise<number> {
  const engine = await startEngine(answers);
  engines.push(engine);
  return Number(new URL(engine.url).port);
}

it('finds engines that chat, and neither other servers, silent ones nor closed ports', async () => {
  const models = [{ id: 'nomic-embed-text' }, { id: 'qwen3:8b' }].map((one) => ({
    ...one,
    owned_by: 'library',
  }));
  const ollama = await start({ '/v1/models': (response) => sendJson(response, { data: models }) });
  const vectors = await start({
    '/v1/models': (response) => sendJson(response, { data: [{ id: 'bge-m3', owned_by: 'vllm' }] }),
  });
  const page = await start({ '/v1/models': (response) => void response.end('<html>') });
  const silent = await start({ '/v1/models': () => undefined });
  const found = await findLocalEngines({ ports: [ollama, vectors, page, silent, 1], limitMs: 2_000 });
  expect(found).toEqual([
    { url: `http://127.0.0.1:${ollama}`, kind: 'ollama', models: [{ id: 'qwen3:8b', uses: ['chat'] }] },
  ]);
});
