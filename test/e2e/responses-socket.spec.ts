import { ResponsesWS } from 'openai/resources/responses/ws';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fetchOfAny, postJson } from './helpers/http.js';
import { assertValidLog, newClient, responseOf, textOf } from './helpers/response-events.js';
import { ResponseSocketClient, type SocketEvent } from './helpers/response-socket.js';
import { scriptedModel as model } from './helpers/scripted-services.js';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

let stack: ScriptedStack;
let open: ResponseSocketClient[] = [];

beforeAll(async () => {
  stack = await startScriptedStack({ RESPONSES_MAX_SOCKETS: '4' });
});
afterAll(() => stack?.stop());
afterEach(() => {
  for (const client of open) client.socket.terminate();
  open = [];
});

async function connect(
  ...options: Parameters<typeof ResponseSocketClient.open> extends [string, ...infer R] ? R : never
) {
  const client = await ResponseSocketClient.open(stack.gateway.url, ...options);
  open.push(client);
  return client;
}

/** What the model was told, by its own account. */
function recalled(events: SocketEvent[]): string[] {
  return JSON.parse(textOf(events)) as string[];
}

const errorOf = (events: SocketEvent[]) => {
  const last = events.at(-1);
  return { status: last?.status, code: last?.error?.code, param: last?.error?.param };
};

describe('a WebSocket on GET /v1/responses', () => {
  it('sends the log of each turn, valid by both documents', async () => {
    const client = await connect();
    for (const count of [3, 5]) {
      const events = await client.turn({ model, input: `count ${count}` });
      assertValidLog(events);
      expect(events[0]?.type).toBe('response.created');
      expect(responseOf(events)).toMatchObject({ status: 'completed', store: true });
      expect(textOf(events).trim().split(' ')).toHaveLength(count);
    }
  });

  it('continues a response that is stored nowhere, on the same connection only', async () => {
    const client = await connect();
    const first = responseOf(await client.turn({ model, store: false, input: 'cobalt' }));
    const second = await client.turn({
      model,
      store: false,
      previous_response_id: first.id,
      input: 'recall',
    });
    expect(recalled(second)).toEqual(['user: cobalt', 'assistant: cobalt', 'user: recall']);
    assertValidLog(second);
    const { id } = responseOf(second);
    const third = await client.turn({ model, store: false, previous_response_id: id, input: 'recall' });
    expect(recalled(third)).toHaveLength(5);
    const fork = await client.turn({
      model,
      store: false,
      previous_response_id: first.id,
      input: 'recall',
    });
    expect(recalled(fork)).toHaveLength(3);

    const stranger = await connect();
    const refused = await stranger.turn({ model, store: false, previous_response_id: id, input: 'x' });
    expect(refused).toHaveLength(1);
    expect(refused[0]).toMatchObject({
      type: 'error',
      sequence_number: 0,
      status: 400,
      error: { code: 'previous_response_not_found', param: 'previous_response_id' },
    });
    const recovered = await stranger.turn({ model, store: false, input: 'recovered' });
    expect(textOf(recovered)).toBe('recovered');
    const overHttp = await postJson(`${stack.gateway.url}/v1/responses/${id}`, {}).catch(() => undefined);
    expect(overHttp?.status).not.toBe(200);
  });

  it('continues stored responses wherever they were made, and refuses to store what continues an unstored one', async () => {
    const client = await connect();
    const stored = await newClient(stack.gateway.url).responses.create({ model, input: 'slate' });
    const next = await client.turn({
      model,
      store: false,
      previous_response_id: stored.id,
      input: 'recall',
    });
    expect(recalled(next)).toEqual(['user: slate', 'assistant: slate', 'user: recall']);
    const refused = await client.turn({
      model,
      previous_response_id: responseOf(next).id,
      input: 'x',
    });
    expect(errorOf(refused)).toEqual({ status: 400, code: 'invalid_request', param: 'store' });
  });

  it('forgets a response whose continuation failed', async () => {
    const client = await connect();
    const { id } = responseOf(await client.turn({ model, store: false, input: 'ember' }));
    const failed = await client.turn({
      model,
      store: false,
      previous_response_id: id,
      input: [{ type: 'function_call_output', call_id: 'call_missing', output: 'nothing asked for this' }],
    });
    expect(errorOf(failed)).toEqual({ status: 400, code: 'invalid_request', param: 'input[0].call_id' });
    const stale = await client.turn({ model, store: false, previous_response_id: id, input: 'recall' });
    expect(errorOf(stale).code).toBe('previous_response_not_found');

    const other = responseOf(await client.turn({ model, store: false, input: 'ember' }));
    const broken = await client.turn({
      model,
      store: false,
      previous_response_id: other.id,
      input: 'break after 2',
    });
    expect(broken.map(({ type }) => type).slice(-2)).toEqual(['error', 'response.failed']);
    assertValidLog(broken);
    const again = await client.turn({ model, store: false, previous_response_id: other.id, input: 'recall' });
    expect(errorOf(again).code).toBe('previous_response_not_found');
  });

  it.each([
    ['no JSON', 'not JSON', 'invalid_json', null],
    ['another type', '{"type":"response.steer"}', 'invalid_request', 'type'],
    ['a bad lane', '{"type":"response.create","stream_id":"a b"}', 'invalid_request', 'stream_id'],
    ['no input', `{"type":"response.create","model":"${model}"}`, 'invalid_request', 'input'],
    [
      'a background run',
      `{"type":"response.create","model":"${model}","input":"x","background":true}`,
      'unsupported_parameter',
      'background',
    ],
    [
      'a bad parameter',
      `{"type":"response.create","model":"${model}","input":"x","temperature":9}`,
      'invalid_request',
      'temperature',
    ],
    ['an unknown model', '{"type":"response.create","model":"gone","input":"x"}', 'model_not_found', 'model'],
  ])('refuses %s and goes on', async (_what, message, code, param) => {
    const client = await connect();
    client.socket.send(message);
    expect(errorOf([await client.next()])).toMatchObject({ code, param });
    expect(textOf(await client.turn({ model, input: 'well' }))).toBe('well');
  });

  it('runs the turns of a lane in order and lanes beside each other, each event with its lane', async () => {
    const client = await connect();
    client.send({ model, stream_id: 'slow', store: false, input: 'count 4 every 1000' });
    client.send({ model, stream_id: 'slow', store: false, input: 'after' });
    client.send({ model, stream_id: 'quick', store: false, input: 'count 2' });
    const ended: string[] = [];
    while (ended.length < 3) {
      const event = await client.next();
      expect(event.stream_id).toMatch(/^(slow|quick)$/);
      if (event.type === 'response.completed')
        ended.push(`${event.stream_id}: ${event.response.output_text.split(' ')[0]}`);
    }
    expect(ended).toEqual(['quick: 1', 'slow: 1', 'slow: after']);
  });

  it('says what it ignored in the first event of a response', async () => {
    const client = await connect();
    const events = await client.turn({
      model,
      input: 'x',
      prompt_cache_retention: '24h',
      client_metadata: { a: 'b' },
    });
    expect(events[0]?.headers?.['x-meganest-ignored']).toMatch(/prompt_cache_retention.*client_metadata/);
    expect(events[1]).not.toHaveProperty('headers');
  });

  it('stops the model when the client goes away', async () => {
    const client = await connect();
    const before = stack.witness.stopped;
    client.send({ model, input: 'count 1000 every 20' });
    while ((await client.next()).type !== 'response.output_text.delta');
    client.socket.terminate();
    await expect.poll(() => stack.witness.stopped).toBe(before + 1);
  });

  it('can be cancelled over HTTP in mid-stream', async () => {
    const client = await connect();
    client.send({ model, store: false, input: 'count 1000 every 20' });
    const first = await client.next();
    if (!('response' in first)) throw new Error(first.type);
    while ((await client.next()).type !== 'response.output_text.delta');
    // A response that is not stored is known to its own gateway alone.
    const path = `/v1/responses/${first.response.id}/cancel`;
    expect((await fetchOfAny(stack.gateway.instances, path, { method: 'POST' })).status).toBe(200);
    const events = await client.turn();
    expect(responseOf(events).status).toBe('cancelled');
  });

  it("works with openai's own client", async () => {
    const socket = new ResponsesWS(newClient(stack.gateway.url));
    const types: string[] = [];
    for await (const message of socket.stream()) {
      if (message.type === 'open') socket.send({ type: 'response.create', model, input: 'count 3' });
      if (message.type === 'error') throw message.error;
      if (message.type !== 'message') continue;
      types.push(message.message.type ?? '');
      if (message.message.type === 'response.completed') break;
    }
    socket.close();
    expect(types[0]).toBe('response.created');
    expect(types.filter((type) => type === 'response.output_text.delta').length).toBeGreaterThan(1);
  });

  it('refuses pages of other sites, and more connections than allowed', async () => {
    await expect(connect({ origin: 'https://evil.example' })).rejects.toThrow('403');
    await expect(connect({ origin: stack.gateway.url })).resolves.toBeDefined();
    // Each gateway takes four, two of one client; a balancer gives them their connections in turn.
    await Promise.all(Array.from({ length: 2 * stack.gateway.instances.length - 1 }, () => connect()));
    await expect(connect()).rejects.toThrow('429');
  });

  it('is no ordinary GET', async () => {
    const answer = await fetch(`${stack.gateway.url}/v1/responses`);
    expect(answer.status).toBe(405);
  });
});

describe('a WebSocket of a guarded gateway', () => {
  it('needs a key, has limits of size and rate, and ends with its lifetime', async () => {
    const guarded = await stack.startGateway({
      API_KEYS: 'one,two',
      BODY_LIMIT_BYTES: '2048',
      RATE_LIMIT_PER_MINUTE: '4',
      RESPONSES_SOCKET_LIFETIME_MS: '1500',
    });
    const openWith = (key?: string) =>
      ResponseSocketClient.open(guarded.url, key ? { headers: { authorization: `Bearer ${key}` } } : {});
    await expect(openWith()).rejects.toThrow('401');
    await expect(openWith('three')).rejects.toThrow('401');

    const big = await openWith('one');
    const tooBig = big.closed();
    big.send({ model, input: 'x'.repeat(3_000) });
    expect(await tooBig).toBe(1009);

    const client = await openWith('two');
    const closed = client.closed();
    for (let turn = 0; turn < 3; turn += 1)
      expect(textOf(await client.turn({ model, input: 'ok' }))).toBe('ok');
    const refused = await client.turn({ model, input: 'too much' });
    expect(errorOf(refused)).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect(
      Number(
        (refused[0] as { error?: { headers?: Record<string, string> } }).error?.headers?.['retry-after'],
      ),
    ).toBeGreaterThan(0);
    const last = await client.next();
    expect(errorOf([last]).code).toBe('websocket_connection_limit_reached');
    expect(await closed).toBe(1008);
  });

  it('finishes the turn under way when the gateway stops', async () => {
    const gateway = await stack.startGateway();
    const client = await ResponseSocketClient.open(gateway.url);
    const closed = client.closed();
    client.send({ model, input: 'count 20 every 20' });
    while ((await client.next()).type !== 'response.output_text.delta');
    const stopped = gateway.stop();
    expect(responseOf(await client.turn()).status).toBe('completed');
    expect(errorOf([await client.next()])).toMatchObject({ status: 503, code: 'service_unavailable' });
    expect(await closed).toBe(1001);
    await stopped;
  });
});
