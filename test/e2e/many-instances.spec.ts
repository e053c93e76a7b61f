import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
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
let collector: Awaited<ReturnType<typeof startCollector>>;

beforeAll(async () => {
  directory = await createTemporaryDirectory();
  [nats, collector] = [await startNatsCluster(3), await startCollector()];
  const connectionString = await startDatabase();
  const env = {
    NATS_URL: nats.url,
    NATS_BUCKET_REPLICAS: '3',
    DATABASE_URL: connectionString,
    MEGANEST_DATA_DIR: directory.path,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '200',
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
  collector?.close();
});

interface Span {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
}

/** An OpenTelemetry collector that keeps the spans in memory. */
async function startCollector() {
  const spans: Span[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const { resourceSpans } = (await json(request)) as {
      resourceSpans: {
        resource: { attributes: { key: string; value: { stringValue: string } }[] };
        scopeSpans: { spans: Omit<Span, 'service'>[] }[];
      }[];
    };
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
      spans.push(...scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ ...span, service }))));
    }
    response.setHeader('content-type', 'application/json').end('{}');
  };
  const server = createServer((request, response) => void take(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    close: () => void server.close(),
  };
}

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

function ask(url: string, headers: Record<string, string> = {}, stream = false): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'chatqna', stream, messages: [{ role: 'user', content: question }] }),
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

  it('show over each gateway where the time of a request to the other went', async () => {
    const [first = '', second = ''] = gateways();
    const id = (await ask(first)).headers.get('x-request-id') ?? '';
    const receipts = await Promise.all(
      [first, second].map(async (url) => (await fetch(`${url}/v1/receipts/${id}`)).json()),
    );
    expect(receipts[0]).toMatchObject({ requestId: id, receipt: { megaService: 'chatqna', state: 'ok' } });
    expect(receipts[1]).toEqual(receipts[0]);
    expect((await fetch(`${second}/v1/receipts/unknown`)).status).toBe(404);
    const { recent } = (await (await fetch(`${second}/v1/megaservices/chatqna`)).json()) as {
      recent: { requestId: string }[];
    };
    expect(recent.map(({ requestId }) => requestId)).toContain(id);
  });

  it('make one trace of a chat, from the gateway over NATS to the engine', async () => {
    const [traceId, caller] = ['c'.repeat(32), '1'.repeat(16)];
    const before = await ask(gateways()[0]!, { traceparent: `00-${traceId}-${caller}-01` });
    await before.text();
    const own = () => collector.spans.filter((span) => span.traceId === traceId);
    const generation = () => own().find(({ service, name }) => service === 'llm' && name.startsWith('chat '));
    await expect
      .poll(() => generation() && own().some(({ parentSpanId }) => parentSpanId === caller))
      .toBe(true);
    const way: string[] = [];
    for (let span = generation(); span; span = own().find(({ spanId }) => spanId === span?.parentSpanId))
      way.push(`${span.service}: ${span.name}`);
    expect(way.slice(1)).toEqual([
      'llm: meganest.llm.generate',
      'gateway: meganest.llm.generate',
      'gateway: POST /v1/chat/completions',
    ]);
    const services = new Set(own().map(({ service }) => service));
    expect(services).toEqual(new Set(['gateway', 'embedding', 'retrieval', 'reranking', 'llm']));
  });

  it('add up what they measured', async () => {
    const counted = async (url: string, query = '') => {
      const answer = await fetch(`${url}/v1/statistics${query}`);
      const all = (await answer.json()) as Record<string, { count: number; instances?: number }>;
      return all['opea_service@gateway/chatqna'] ?? { count: 0 };
    };
    for (const url of gateways()) await (await ask(url)).text();
    const [first, second] = await Promise.all(gateways().map((url) => counted(url)));
    const sum = await counted(gateways()[0]!, '?scope=cluster');
    expect(sum).toMatchObject({ count: first!.count + second!.count, instances: 2 });
    const alone = await fetch(`${instances.get('llm')![0]!.url}/v1/statistics?scope=cluster`);
    expect([alone.status, await alone.json()]).toMatchObject([400, { error: { param: 'scope' } }]);
  });

  it.each([false, true])(
    'answer an Idempotency-Key once, whichever gateway is asked (stream: %s)',
    async (stream) => {
      const headers = { 'idempotency-key': `key-${stream}` };
      const [first = '', second = ''] = gateways();
      const before = await ask(first, headers, stream);
      const text = await before.text();
      expect([before.status, before.headers.get('idempotent-replayed')]).toEqual([200, null]);
      const again = await ask(second, headers, stream);
      expect(await again.text()).toBe(text);
      expect(again.headers.get('content-type')).toBe(before.headers.get('content-type'));
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      const other = await ask(second, headers, !stream);
      expect([other.status, await other.json()]).toMatchObject([
        409,
        { error: { param: 'idempotency-key' } },
      ]);
    },
  );

  it('finish the answer to a key whose client has left', async () => {
    const headers = { 'idempotency-key': 'left' };
    const [first = '', second = ''] = gateways();
    const abort = new AbortController();
    const left = fetch(`${first}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({
        model: 'chatqna',
        stream: true,
        messages: [{ role: 'user', content: question }],
      }),
      signal: abort.signal,
    });
    await left;
    abort.abort();
    let answer = await ask(second, headers, true);
    // 409 while it is worked on.
    await expect.poll(async () => (answer = await ask(second, headers, true)).status).toBe(200);
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
    expect(await answer.text()).toContain('[DONE]');
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
