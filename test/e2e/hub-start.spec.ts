import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseHubId } from '#engine/models';
import { loadProfile } from '#platform/service-kit';
import { createTemporaryDirectory, freePort } from '#platform/testing';
import { smallSizes, trueSizes, writeHubModels } from '../support/hub-models.js';
import { HubServer } from '../support/hub-server.js';
import { LauncherProcess } from '../support/launcher-process.js';

const shard = 'model-00002-of-00002.safetensors';
const profile = loadProfile('hub');
const parse = (source: string) => parseHubId(source)!;
const embedding = parse(profile.embedding.model);
const reranking = parse(profile.reranking.model);
const llm = parse(profile.llm.model);
const asr = parse(profile.asr.model);
const models = [embedding, reranking, llm, asr];

let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
let hub: HubServer;
let environment: NodeJS.ProcessEnv;
let gateway: string;
const started: LauncherProcess[] = [];

function start(): LauncherProcess {
  const launcher = new LauncherProcess(join(directory.path, 'data'), environment);
  started.push(launcher);
  return launcher;
}

beforeAll(async () => {
  directory = await createTemporaryDirectory();
  const ids = { embedding: embedding.id, reranking: reranking.id, llm: llm.id, asr: asr.id };
  // HUB_TRUE_SIZES=true: the shapes of hub-small, which take gigabytes and minutes.
  const sizes = process.env['HUB_TRUE_SIZES'] === 'true' ? trueSizes : smallSizes;
  await writeHubModels(join(directory.path, 'hub'), ids, sizes);
  hub = await HubServer.start(join(directory.path, 'hub'));
  for (const { id, revision } of models) hub.commits.set(id, revision);
  hub.token = 'secret';
  const port = await freePort();
  gateway = `http://127.0.0.1:${port}`;
  environment = {
    MEGANEST_PROFILE: 'hub',
    HF_ENDPOINT: hub.url,
    HF_TOKEN: 'secret',
    XDG_CACHE_HOME: join(directory.path, 'none'),
    MEGANEST_SAMPLE_DOCUMENTS: 'false',
    GATEWAY_PORT: String(port),
    DEVICE: 'cpu',
  };
});
afterAll(async () => {
  await Promise.all(started.map((launcher) => launcher.stop()));
  await hub.close();
  await directory.remove();
});

interface Health {
  downloads?: { model: string; loadedBytes: number; totalBytes?: number }[];
}

async function health(): Promise<Health> {
  return fetch(`${gateway}/v1/health_check`).then(
    (response) => response.json() as Promise<Health>,
    () => ({}),
  );
}

const post = (path: string, body: object) =>
  fetch(`${gateway}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

describe.sequential('npm start with models of a hub', () => {
  it('shows a download while it runs, and goes on with it after it was killed', async () => {
    hub.faults.push({ file: shard, kind: 'hold', at: 0.6, times: 1 });
    const held = hub.whenHeld(shard);
    const first = start();
    await held;
    await expect
      .poll(async () => (await health()).downloads?.find(({ model }) => model === llm.id), {
        timeout: 120_000,
      })
      .toMatchObject({ loadedBytes: expect.any(Number) as number, totalBytes: expect.any(Number) as number });
    first.signal('SIGKILL');
    await first.exited;
    hub.requests.length = 0;
    hub.faults.push({ file: shard, kind: 'status', status: 429, headers: { 'retry-after': '1' }, times: 1 });

    const second = start();
    await second.ready();
    const ranges = hub.asked(shard).map(({ range }) => range);
    expect(Number(/^bytes=(\d+)-$/.exec(ranges.at(-1) ?? '')?.[1])).toBeGreaterThan(0);
    expect(second.output).toContain('answers 429; next try in 1.0 s');
    expect((await health()).downloads).toBeUndefined();
  });

  it('serves each of them', async () => {
    const listed = await Promise.all(
      [gateway, started.at(-1)!.urlOf('asr')].map(async (url) => {
        const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] };
        return data.map(({ id }) => id);
      }),
    );
    expect(listed.flat()).toEqual(expect.arrayContaining(models.map(({ id }) => id)));
    const chat = await post('/v1/chat/completions', {
      model: llm.id,
      messages: [{ role: 'user', content: 'Say something.' }],
      max_tokens: 4,
    });
    expect(chat.status).toBe(200);
    const vectors = await post('/v1/embeddings', { input: 'a text' });
    expect(vectors.status).toBe(200);
    const { results } = (await (await post('/v1/rerank', { query: 'a', documents: ['a', 'b'] })).json()) as {
      results: unknown[];
    };
    expect(results).toHaveLength(2);
  });

  it('needs no network any more', async () => {
    await started.at(-1)?.stop();
    hub.requests.length = 0;
    const third = start();
    await third.ready();
    expect(hub.requests).toEqual([]);
  });
});
