import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { Objm } from '@nats-io/obj';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { services } from '#platform/local-stack';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startContainers } from '../support/containers.js';
import { nativeLacks, startOnLoopback, type Instances } from '../support/instances.js';
import { canMakeNetworks } from '../support/namespaces.js';
import { postJson } from './helpers/http.js';

const question = 'What does the Quibblewick engine run on?';
/** Otherwise the same instances run on ports of loopback. */
const hasNetworks = canMakeNetworks();
const place = hasNetworks ? 'on a machine each' : 'on loopback, for lack of root for namespaces';

let instances: Instances;
let observer: NatsConnection;
let collector: Awaited<ReturnType<typeof startCollector>>;

beforeAll(async () => {
  collector = await startCollector();
  instances = await (hasNetworks ? startContainers : startOnLoopback)(collector.port);
  observer = await connect({ ...instances.observer, maxReconnectAttempts: -1 });
});
afterAll(async () => {
  await observer?.close();
  await instances?.stop();
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
    port: (server.address() as AddressInfo).port,
    spans,
    close: () => void server.close(),
  };
}

const gateways = () => instances.urlsOf('gateway');

function get(url: string): Promise<Response> {
  return fetch(url, { headers: instances.headers });
}

function post(url: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...instances.headers, ...headers },
    body: JSON.stringify(body),
  });
}

function send(url: string, form: FormData): Promise<Response> {
  return fetch(url, { method: 'POST', headers: instances.headers, body: form });
}

function upload(url: string, name: string): Promise<Response> {
  const form = new FormData();
  form.append('files', new Blob([`The file ${name} is about winter tires.`]), name);
  form.append('collection', 'under-load');
  return send(`${url}/v1/dataprep/ingest`, form);
}

function ask(url: string, headers: Record<string, string> = {}, stream = false): Promise<Response> {
  const body = { model: 'chatqna', stream, messages: [{ role: 'user', content: question }] };
  return post(`${url}/v1/chat/completions`, body, headers);
}

/** Speaks the question over one gateway, and has it written down by the other. */
async function speak(): Promise<string> {
  const [first = '', second = first] = gateways();
  const spoken = await post(`${first}/v1/audio/speech`, { input: question, response_format: 'wav' });
  expect(spoken.status).toBe(200);
  const form = new FormData();
  form.append('file', await spoken.blob(), 'question.wav');
  const written = await send(`${second}/v1/audio/transcriptions`, form);
  const { text = '' } = (await written.json()) as { text?: string };
  return text;
}

interface Outcomes {
  done: string[];
  failures: string[];
  slowestMs: number;
}

/** Sends a request, and again as `Retry-After` asks for, four times at most. */
async function persist(outcomes: Outcomes, name: string, request: () => Promise<Response>): Promise<void> {
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

/** Two chats and two ingests at a time, one of each over each gateway, while `harm` happens and for some time after it. */
async function underLoad(
  prefix: string,
  harm: () => Promise<void>,
): Promise<{ chats: Outcomes; ingests: Outcomes }> {
  const chats: Outcomes = { done: [], failures: [], slowestMs: 0 };
  const ingests: Outcomes = { done: [], failures: [], slowestMs: 0 };
  const run = { over: false };
  const clients = gateways().flatMap((url, index) => [
    repeat(run, () => persist(chats, 'chat', () => ask(url))),
    repeat(run, (turn) => {
      const name = `${prefix}-${index}-${turn}.txt`;
      return persist(ingests, name, () => upload(url, name));
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

describe.sequential(`two of each service, and three NATS servers, ${place}`, () => {
  it('answer their probes, and find NATS, Postgres and each other', async ({ skip }) => {
    skip(!hasNetworks, 'needs root, for namespaces');
    for (const url of gateways()) {
      const health = (await (await get(`${url}/v1/health_check`)).json()) as {
        dependencies: { name: string; healthy: boolean }[];
      };
      expect(health.dependencies.length).toBeGreaterThan(services.length - 2);
      expect(health.dependencies.filter(({ healthy }) => !healthy)).toEqual([]);
    }
  });

  it('answer over each gateway what was ingested over the other', async () => {
    const form = new FormData();
    form.append('files', new Blob(['The Quibblewick engine runs on fermented plum juice.']), 'engine.txt');
    const [first = '', second = ''] = gateways();
    const stored = await send(`${first}/v1/dataprep/ingest`, form);
    expect(stored.status).toBe(200);
    for (const url of [first, second])
      expect(await (await ask(url)).text()).toContain('fermented plum juice');
    const { body } = await postJson(`${second}/v1/dataprep/get`, {}, instances.headers);
    expect(body).toMatchObject([{ name: 'engine.txt' }]);
  });

  it('stream, keep responses, and speak', async () => {
    const [first = '', second = ''] = gateways();
    const stream = await (await ask(first, {}, true)).text();
    expect(stream).toContain('data: [DONE]');
    const created = await post(`${first}/v1/responses`, { model: 'chatqna', input: question });
    const { id, output_text: text } = (await created.json()) as { id: string; output_text: string };
    expect(text).toContain('fermented plum juice');
    expect(await (await get(`${second}/v1/responses/${id}`)).json()).toMatchObject({ output_text: text });
    expect(await speak()).toMatch(/what does/i);
  });

  it('show over each gateway where the time of a request to the other went', async () => {
    const [first = '', second = ''] = gateways();
    const id = (await ask(first)).headers.get('x-request-id') ?? '';
    const receipts = await Promise.all(
      [first, second].map(async (url) => (await get(`${url}/v1/receipts/${id}`)).json()),
    );
    expect(receipts[0]).toMatchObject({ requestId: id, receipt: { megaService: 'chatqna', state: 'ok' } });
    expect(receipts[1]).toEqual(receipts[0]);
    expect((await get(`${second}/v1/receipts/unknown`)).status).toBe(404);
    const { recent } = (await (await get(`${second}/v1/megaservices/chatqna`)).json()) as {
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
    // Each service sends its spans when it likes.
    const services = ['embedding', 'gateway', 'llm', 'reranking', 'retrieval'];
    await expect.poll(() => [...new Set(own().map(({ service }) => service))].toSorted()).toEqual(services);
  });

  it('add up what they measured', async () => {
    const counted = async (url: string, query = '') => {
      const answer = await get(`${url}/v1/statistics${query}`);
      const all = (await answer.json()) as Record<string, { count: number; instances?: number }>;
      return all['opea_service@gateway/chatqna'] ?? { count: 0 };
    };
    for (const url of gateways()) await (await ask(url)).text();
    const [first, second] = await Promise.all(gateways().map((url) => counted(url)));
    const sum = await counted(gateways()[0]!, '?scope=cluster');
    expect(sum).toMatchObject({ count: first!.count + second!.count, instances: 2 });
    const alone = await get(`${instances.urlsOf('llm')[0]}/v1/statistics?scope=cluster`);
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
      headers: { 'content-type': 'application/json', ...instances.headers, ...headers },
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
    const node = instances.nodes[leader]!;
    const { chats, ingests } = await underLoad('nats', () => node.kill());
    expect([...chats.failures, ...ingests.failures]).toEqual([]);
    expect(Math.max(chats.slowestMs, ingests.slowestMs)).toBeLessThan(60_000);
    await node.start();
    await expect
      .poll(async () => (await bucketStatus()).streamInfo.cluster?.replicas?.map(({ current }) => current))
      .toEqual([true, true]);
    const { body } = await postJson(
      `${gateways()[1]}/v1/dataprep/get`,
      { collection: 'under-load' },
      instances.headers,
    );
    const kept = (body as { name: string }[]).map(({ name }) => name);
    expect(kept.toSorted()).toEqual([...new Set(ingests.done)].toSorted());
  });

  it('wait for a Postgres that is killed and comes back', async ({ skip }) => {
    skip(!instances.native, nativeLacks());
    const { chats, ingests } = await underLoad('postgres', async () => {
      await instances.native!.kill();
      await instances.native!.start();
    });
    expect([...chats.failures, ...ingests.failures]).toEqual([]);
  });

  it('go on while one of each service is killed, and after a gateway is', async () => {
    const { chats, ingests } = await underLoad('services', async () => {
      for (const { name } of services) if (name !== 'gateway') await instances.kill(name);
    });
    expect([...chats.failures, ...ingests.failures]).toEqual([]);
    await instances.kill('gateway');
    const [left = ''] = gateways();
    expect(gateways()).toHaveLength(1);
    expect(await (await ask(left)).text()).toContain('fermented plum juice');
    expect(await speak()).toMatch(/what does/i);
  });
});
