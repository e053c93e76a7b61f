import { setTimeout as delay } from 'node:timers/promises';
import { Objm } from '@nats-io/obj';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import {
  createTemporaryDirectory,
  findProgramsWithVector,
  portVariable,
  startNativePostgres,
  startNatsCluster,
  startPostgres,
  startService,
  type NativePostgres,
  type ServiceName,
  type TestNatsCluster,
  type TestService,
} from '#testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postJson } from './helpers/http.js';

/** Two of each of these, three NATS servers in a cluster, and a native Postgres where the machine has one. */
const names = ['embedding', 'retrieval', 'reranking', 'llm', 'dataprep', 'gateway'] as const;
const question = 'What does the Quibblewick engine run on?';
const found = findProgramsWithVector();

let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
let nats: TestNatsCluster;
let native: NativePostgres | undefined;
let stopPostgres: () => Promise<void>;
const instances = new Map<ServiceName, TestService[]>();
let observer: NatsConnection;

beforeAll(async () => {
  directory = await createTemporaryDirectory();
  nats = await startNatsCluster(3);
  const connectionString = await startDatabase();
  const env = {
    NATS_URL: nats.url,
    NATS_BUCKET_REPLICAS: '3',
    DATABASE_URL: connectionString,
    MEGANEST_DATA_DIR: directory.path,
  };
  // Two at a time: twelve programs that start at once hold each other up.
  for (const name of names) {
    const start = () => startService(name, { ...env, [portVariable(name)]: '0' });
    instances.set(name, await Promise.all([start(), start()]));
  }
  observer = await connect({ servers: nats.nodes.map(({ url }) => url), maxReconnectAttempts: -1 });
});
afterAll(async () => {
  await observer?.close();
  await Promise.all([...instances.values()].flat().map((service) => service.stop()));
  await stopPostgres?.();
  await nats?.stop();
  await directory?.remove();
});

async function startDatabase(): Promise<string> {
  if ('programs' in found) {
    const server = await startNativePostgres(found.programs);
    native = server;
    stopPostgres = () => server.stop();
    return server.url;
  }
  const embedded = await startPostgres();
  stopPostgres = () => embedded.stop();
  return embedded.connectionString;
}

const gateways = () => instances.get('gateway')!.map(({ url }) => url);

interface Outcomes {
  done: string[];
  failures: string[];
  slowestMs: number;
}

/** Sends a request, and again as `Retry-After` asks for, four times at most. */
async function send(outcomes: Outcomes, name: string, request: () => Promise<Response>): Promise<void> {
  const startedAt = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    const answer = await request();
    const text = await answer.text();
    const retryAfter = answer.headers.get('retry-after');
    if (answer.status === 503 && retryAfter !== null && attempt < 4) {
      await delay(1_000 * Number(retryAfter));
      continue;
    }
    outcomes.slowestMs = Math.max(outcomes.slowestMs, performance.now() - startedAt);
    if (answer.status === 200) outcomes.done.push(name);
    else outcomes.failures.push(`${name}: ${answer.status} ${text}`);
    return;
  }
}

async function upload(url: string, name: string): Promise<Response> {
  const form = new FormData();
  form.append('files', new Blob([`The file ${name} is about winter tires.`]), name);
  form.append('collection', 'under-load');
  return fetch(`${url}/v1/dataprep/ingest`, { method: 'POST', body: form });
}

function ask(url: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'chatqna', messages: [{ role: 'user', content: question }] }),
  });
}

/** Two chats and two ingests at a time, one of each over each gateway, while `harm` happens and for some time after it. */
async function underLoad(
  prefix: string,
  harm: () => Promise<void>,
): Promise<{ chats: Outcomes; ingests: Outcomes }> {
  const chats: Outcomes = { done: [], failures: [], slowestMs: 0 };
  const ingests: Outcomes = { done: [], failures: [], slowestMs: 0 };
  const run = { over: false };
  const clients = gateways().flatMap((url, index) => [
    repeat(run, () => send(chats, 'chat', () => ask(url))),
    repeat(run, (turn) => {
      const name = `${prefix}-${index}-${turn}.txt`;
      return send(ingests, name, () => upload(url, name));
    }),
  ]);
  const more = async () => {
    const [before, uploaded] = [chats.done.length, ingests.done.length];
    const isFailed = () => chats.failures.length + ingests.failures.length > 0;
    await expect
      .poll(() => isFailed() || (chats.done.length > before + 2 && ingests.done.length > uploaded + 2))
      .toBe(true);
  };
  await more();
  await harm();
  await more();
  run.over = true;
  await Promise.all(clients);
  return { chats, ingests };
}

async function repeat(run: { over: boolean }, work: (turn: number) => Promise<void>): Promise<void> {
  for (let turn = 0; !run.over; turn += 1) await work(turn);
}

/** What JetStream says of the bucket that carries uploads. */
async function bucketStatus() {
  const store = await new Objm(observer).open('meganest-uploads');
  return store.status();
}

describe.sequential('two of each service, and three NATS servers', () => {
  it('answer over each gateway what was ingested over the other', async () => {
    const form = new FormData();
    form.append('files', new Blob(['The Quibblewick engine runs on fermented plum juice.']), 'engine.txt');
    const [first = '', second = ''] = gateways();
    const stored = await fetch(`${first}/v1/dataprep/ingest`, { method: 'POST', body: form });
    expect(stored.status).toBe(200);
    for (const url of [first, second])
      expect(await (await ask(url)).text()).toContain('fermented plum juice');
    const { body } = await postJson(`${second}/v1/dataprep/get`, {});
    expect(body).toMatchObject([{ name: 'engine.txt' }]);
  });

  it('keep uploads on three servers', async () => {
    expect((await bucketStatus()).replicas).toBe(3);
  });

  it('go on while the NATS server that leads the bucket is killed and comes back', async () => {
    const { streamInfo } = await bucketStatus();
    const leader = Number(/\d+$/.exec(streamInfo.cluster?.leader ?? '')?.[0]);
    const node = nats.nodes[leader]!;
    const { chats, ingests } = await underLoad('nats', () => node.kill());
    expect([...chats.failures, ...ingests.failures]).toEqual([]);
    expect(Math.max(chats.slowestMs, ingests.slowestMs)).toBeLessThan(60_000);
    await node.start();
    await expect
      .poll(async () => (await bucketStatus()).streamInfo.cluster?.replicas?.map(({ current }) => current))
      .toEqual([true, true]);
    const { body } = await postJson(`${gateways()[1]}/v1/dataprep/get`, { collection: 'under-load' });
    const kept = (body as { name: string }[]).map(({ name }) => name);
    expect(kept.toSorted()).toEqual([...new Set(ingests.done)].toSorted());
  });

  it('go on while one of each service is killed', async () => {
    const { chats, ingests } = await underLoad('services', async () => {
      for (const name of names) if (name !== 'gateway') await instances.get(name)!.pop()?.kill();
    });
    expect([...chats.failures, ...ingests.failures]).toEqual([]);
  });

  it('wait for a Postgres that is killed and comes back', async ({ skip }) => {
    skip(!native, 'reason' in found ? found.reason : '');
    const { chats, ingests } = await underLoad('postgres', async () => {
      await native!.kill();
      await native!.start();
    });
    expect([...chats.failures, ...ingests.failures]).toEqual([]);
  });
});
