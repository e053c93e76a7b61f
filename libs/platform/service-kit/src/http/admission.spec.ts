import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Admission, type AdmissionLimits } from './admission.js';

const kilobyte = 1_024;
const unlimited: AdmissionLimits = {
  service: 'gateway',
  maxRequests: 0,
  maxBytes: 0,
  bodyLimit: 100 * kilobyte,
};

let server: FastifyInstance;
const sockets: Socket[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

/** A server whose handler waits until `finish` is called; the client is named by a header. */
async function serve(limits: Partial<AdmissionLimits>) {
  const admission = new Admission();
  const waiting: (() => void)[] = [];
  server = Fastify({ bodyLimit: unlimited.bodyLimit });
  server.addHook('onRequest', (request, _reply, done) => {
    const owner = String(request.headers['x-client'] ?? 'one');
    request.meganestCaller = { owner, name: owner, scopes: new Set() };
    done();
  });
  admission.guard(server, { ...unlimited, ...limits });
  server.post('/', async () => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return {};
  });
  server.get('/live', () => ({}));
  await server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = server.server.address() as AddressInfo;
  const post = (bytes: number, client = 'one') =>
    fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-client': client },
      body: JSON.stringify('x'.repeat(bytes - 2)),
    });
  const finish = async () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  return { admission, post, finish, waiting, port };
}

describe('Admission', () => {
  it('takes so many requests at a time, and half of them from one client', async () => {
    const { post, finish, waiting, admission } = await serve({ maxRequests: 4 });
    const first = [post(10), post(10)];
    await expect.poll(() => waiting.length).toBe(2);
    const refused = await post(10);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await refused.json()).toMatchObject({ error: { code: 'overloaded' } });
    const others = [post(10, 'two'), post(10, 'two')];
    await expect.poll(() => waiting.length).toBe(4);
    expect((await post(10, 'three')).status).toBe(429);
    await finish();
    for (const answer of [...first, ...others]) expect((await answer).status).toBe(200);
    await expect.poll(() => admission.usage).toEqual({ requests: 0, bytes: 0 });
  });

  it('takes so many bytes at a time, and refuses before a body is read', async () => {
    const { post, finish, waiting, port } = await serve({ maxBytes: 100 * kilobyte });
    const first = post(40 * kilobyte);
    await expect.poll(() => waiting.length).toBe(1);
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    // Nothing of the body is sent, and the answer comes.
    socket.write(
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 40000\r\n\r\n',
    );
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString()).toMatch(/^HTTP\/1.1 429 /);
    const other = post(40 * kilobyte, 'two');
    await expect.poll(() => waiting.length).toBe(2);
    await finish();
    expect([(await first).status, (await other).status]).toEqual([200, 200]);
  });

  it('counts a body of unknown or compressed length as the greatest one', async () => {
    const { admission, port } = await serve({});
    for (const header of ['transfer-encoding: chunked', 'content-length: 5\r\ncontent-encoding: gzip']) {
      const before = admission.usage.bytes;
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket);
      socket.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${header}\r\n\r\n`);
      await expect.poll(() => admission.usage.bytes - before).toBe(unlimited.bodyLimit);
    }
  });

  it('cuts bodies off that hardly come, where others have no room', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { admission, post, finish, waiting, port } = await serve({ maxBytes: 100 * kilobyte });
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.write(
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 90000\r\n\r\n"',
    );
    await expect.poll(() => admission.usage.requests).toBe(1);
    vi.setSystemTime(Date.now() + 11_000);
    const closed = once(socket, 'close');
    expect((await post(40 * kilobyte, 'two')).status).toBe(429);
    await closed;
    await expect.poll(() => admission.usage.requests).toBe(0);
    const next = post(40 * kilobyte, 'two');
    await expect.poll(() => waiting.length).toBe(1);
    await finish();
    expect((await next).status).toBe(200);
  });

  it('answers probes always', async () => {
    const { post, finish, waiting, port } = await serve({ maxRequests: 1 });
    const first = post(10);
    await expect.poll(() => waiting.length).toBe(1);
    expect((await fetch(`http://127.0.0.1:${port}/live`)).status).toBe(200);
    await finish();
    await first;
  });
});
