import type { FastifyInstance } from 'fastify';
import { EventEmitter, once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { baseEnvironmentSchema } from '../config/environment.js';
import { Drain } from '../drain.js';
import { createLogger } from '../logger.js';
import { sendEventStream } from './event-stream.js';
import { aliasedPath, callerLabels, createHttpAdapter } from './http-adapter.js';

async function* oneFrame() {
  yield await Promise.resolve('data: x\n\n');
}

describe('createHttpAdapter', () => {
  let server: FastifyInstance | undefined;
  let drain: Drain;
  let answerOf: (body: unknown) => unknown;
  beforeEach(() => (answerOf = (body) => body));
  afterEach(() => server?.close());

  async function listen(variables: Record<string, string>): Promise<() => Promise<Socket>> {
    const environment = baseEnvironmentSchema.parse(variables);
    const adapter = createHttpAdapter(environment, createLogger('test', 'silent'));
    server = adapter.getInstance<FastifyInstance>();
    drain = new Drain();
    drain.guard(server);
    server.post('/', (request) => answerOf(request.body));
    server.get('/stream', (_request, reply) => sendEventStream(reply, oneFrame(), () => ''));
    await server.listen({ port: 0, host: '127.0.0.1' });
    const { port } = server.server.address() as AddressInfo;
    return async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      return socket;
    };
  }

  const head =
    'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n';

  it('ends a request whose body does not come, and says so', async () => {
    const open = await listen({ RECEIVE_TIMEOUT_MS: '200' });
    const socket = await open();
    socket.write(`${head}{"a"`);
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
    expect(answer).toContain('"code":"request_timeout"');
  });

  it('takes a body that comes in pieces within the time', async () => {
    const open = await listen({ RECEIVE_TIMEOUT_MS: '60000' });
    const socket = await open();
    socket.write(`${head}{"a"`);
    socket.write(`:123}`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1.1 200 /);
    socket.destroy();
  });

  it.each([
    [{}, 600_000, 8_192],
    [{ RECEIVE_TIMEOUT_MS: '0', REQUESTS_LIMIT: '0' }, 0, undefined],
  ])('has bounds unless they are turned off: %o', async (variables, receiveMs, connections) => {
    await listen(variables);
    expect(server!.server).toMatchObject({ requestTimeout: receiveMs });
    expect(server!.server.maxConnections).toBe(connections);
  });

  it('says when to come again to a request that comes while it closes', async () => {
    const open = await listen({});
    const socket = await open();
    const waiting = new EventEmitter();
    answerOf = () => {
      waiting.emit('begun');
      return once(waiting, 'end');
    };
    const begun = once(waiting, 'begun');
    socket.write(`${head}{"a":123}`);
    await begun;
    await drain.run({ delayMs: 0, graceMs: 0 });
    const closed = server?.close();
    const answers = text(socket);
    socket.write(`${head}{"a":124}`);
    await once(server!.server, 'request');
    waiting.emit('end');
    await closed;
    expect(await answers).toMatch(/HTTP\/1.1 503 [^]*retry-after: 1\r\n[^]*this instance is being stopped/);
  });

  it('ends the connection of a stream, too, once it stops', async () => {
    const open = await listen({});
    const ask = async () => {
      const socket = await open();
      socket.write('GET /stream HTTP/1.1\r\nhost: localhost\r\n\r\n');
      const [answer] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      return String(answer);
    };
    expect(await ask()).toMatch(/\r\nconnection: keep-alive\r\n/i);
    const over = new AbortController();
    drain.onBegin(() => once(over.signal, 'abort'));
    const run = drain.run({ delayMs: 60_000, graceMs: 0 });
    expect(await ask()).toMatch(/\r\nconnection: close\r\n/i);
    over.abort();
    void run;
  });

  it('closes connections beyond the limit, and takes others as soon as there is room', async () => {
    const open = await listen({ REQUESTS_LIMIT: '1' });
    const accepted: Socket[] = [];
    server!.server.on('connection', (socket) => accepted.push(socket));
    const kept = [await open(), await open()];
    const refused = (await open()).on('error', () => undefined);
    await once(refused.resume(), 'close');
    kept[0]!.destroy();
    await once(accepted[0]!, 'close');
    const next = await open();
    next.write(`${head}{"a":123}`);
    const [answer] = (await once(next, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1.1 200 /);
    for (const socket of [...kept, next]) socket.destroy();
  });
});

it.each([
  ['/v3/chat/completions', '/v1/chat/completions'],
  ['/v3/models?x=1', '/v1/models?x=1'],
  ['/v30/models', '/v30/models'],
  ['/v3', '/v3'],
  ['/v1/files/v3/content', '/v1/files/v3/content'],
  ['/v1/responses/', '/v1/responses'],
  ['//v1//responses', '/v1/responses'],
  ['/v1/models/?a=//b/', '/v1/models?a=//b/'],
  ['/', '/'],
  ['//', '/'],
  ['/?q=/', '/?q=/'],
  ['http://127.0.0.1:8888/v1/models', '/v1/models'],
  ['http://127.0.0.1:8888', '/'],
  ['*', '/*'],
])('serves %s as %s', (path, expected) => {
  expect(aliasedPath(path)).toBe(expected);
});

describe('callerLabels', () => {
  it.each([
    [
      { user: 'u-1', safety_identifier: 's-1', other: 1 },
      { user: 'u-1', safety_identifier: 's-1' },
    ],
    [{ user: 5, safety_identifier: '' }, {}],
    [{ user: 'x'.repeat(200) }, { user: 'x'.repeat(128) }],
    [null, {}],
    ['text', {}],
  ])('of %j', (body, labels) => {
    expect(callerLabels(body)).toEqual(labels);
  });

  it('stand in the access log', async () => {
    const lines: string[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(line) });
    const server = createHttpAdapter(baseEnvironmentSchema.parse({}), logger).getInstance();
    server.post('/ask', (_request, reply) => reply.send('ok'));
    await server.inject({ method: 'POST', url: '/ask', payload: { user: 'u-1', safety_identifier: 's-1' } });
    await server.close();
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ path: '/ask', user: 'u-1', safety_identifier: 's-1' });
  });
});
