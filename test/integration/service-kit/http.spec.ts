import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { startNats, startService, type TestNats, type TestService } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let nats: TestNats;
let service: TestService;

beforeAll(async () => {
  nats = await startNats();
  service = await startService('embedding', { NATS_URL: nats.url, BODY_LIMIT_BYTES: '4096' });
});
afterAll(async () => {
  await service?.stop();
  await nats?.stop();
});

async function post(path: string, body: string | Uint8Array, headers: Record<string, string> = {}) {
  const answer = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

/** What comes back for bytes that no HTTP library would send. */
async function raw(request: string) {
  const { port } = new URL(service.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(request);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), body: JSON.parse(body) as unknown };
}

const input = JSON.stringify({ input: 'plums' });
const invalid = (message: string, param: string | null = null) => ({
  error: {
    message: expect.stringContaining(message) as string,
    type: 'invalid_request_error',
    param,
    code: 'invalid_request',
  },
});

describe('a packed body', () => {
  it.each([
    ['gzip', gzipSync(input)],
    ['x-gzip', gzipSync(input)],
    ['br', brotliCompressSync(input)],
    ['deflate', deflateSync(input)],
    ['identity', input],
  ])('is read with %s', async (encoding, body) => {
    expect(await post('/v1/embeddings', body, { 'content-encoding': encoding })).toMatchObject({
      status: 200,
      body: { object: 'list' },
    });
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ])('may not unpack to more than a plain one may have, with %s', async (encoding, pack) => {
    const bomb = pack(JSON.stringify({ input: 'x'.repeat(1_000_000) }));
    expect(bomb.length).toBeLessThan(4096);
    expect(await post('/v1/embeddings', bomb, { 'content-encoding': encoding })).toMatchObject({
      status: 413,
      body: { error: { code: 'payload_too_large', message: expect.stringContaining('4096') as string } },
    });
  });

  it.each(['gzip', 'br', 'deflate'])('that is broken is a 400, with %s', async (encoding) => {
    const answer = await post('/v1/embeddings', input, { 'content-encoding': encoding });
    expect(answer).toMatchObject({ status: 400, body: invalid(`not valid ${encoding}`, 'content-encoding') });
  });

  it.each(['zstd', 'gzip, br', 'rot13', '__proto__'])('is a 415 with %s', async (encoding) => {
    const answer = await post('/v1/embeddings', gzipSync(input), { 'content-encoding': encoding });
    expect(answer).toMatchObject({
      status: 415,
      body: { error: { code: 'unsupported_media_type', param: 'content-encoding' } },
    });
    expect(answer.headers.get('accept-encoding')).toBe('gzip, br, deflate');
  });

  it('is a 415 where it is not JSON', async () => {
    const headers = { 'content-encoding': 'gzip', 'content-type': 'multipart/form-data; boundary=x' };
    expect((await post('/v1/embeddings', gzipSync('--x--'), headers)).status).toBe(415);
  });
});

describe('a path', () => {
  it.each(['/v1/embeddings/', '//v1//embeddings', '/v3/embeddings/?a=/'])('is served as %s', async (path) => {
    expect((await post(path, input)).status).toBe(200);
  });

  it.each([
    ['GET', '/v1/embeddings', 'POST'],
    ['PUT', '/v1/embeddings', 'POST'],
    ['OPTIONS', '/v1/embeddings/', 'POST'],
    ['POST', '/v1/health_check', 'GET, HEAD'],
    ['DELETE', '/docs/start.js', 'GET, HEAD'],
  ])('says what it takes in place of %s %s', async (method, path, allow) => {
    const answer = await fetch(service.url + path, { method });
    await answer.text();
    expect({ status: answer.status, allow: answer.headers.get('allow') }).toEqual({ status: 405, allow });
  });

  it('that does not exist is a 404 under any method', async () => {
    expect((await fetch(`${service.url}/v1/nothing`)).status).toBe(404);
    expect((await post('/v1/nothing', input)).status).toBe(404);
  });

  it('of the documentation sends a slash at its end away, for the sake of its links', async () => {
    const answer = await fetch(`${service.url}/docs/`, { redirect: 'manual' });
    expect({ status: answer.status, to: answer.headers.get('location') }).toEqual({
      status: 308,
      to: '../docs',
    });
  });
});

describe('another content type', () => {
  it.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'nonsense'])(
    'is a 415: %s',
    async (type) => {
      const answer = await post('/v1/embeddings', input, { 'content-type': type });
      expect(answer).toMatchObject({
        status: 415,
        body: {
          error: { code: 'unsupported_media_type', message: expect.stringContaining('application/json') },
        },
      });
    },
  );
});

describe('what is no HTTP', () => {
  it.each([
    ['a broken request line', 'NONSENSE\r\n\r\n', 400, 'The request is not valid HTTP'],
    ['an unknown method', 'FOO / HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'The request is not valid HTTP'],
    [
      'a broken header',
      'GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n',
      400,
      'The request is not valid HTTP',
    ],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'The request is not valid HTTP',
    ],
    ['a request without a host', 'GET /live HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'host: is required'],
    ['two hosts', 'GET /live HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n', 400, 'host: '],
    [
      'too large headers',
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`,
      431,
      'The headers of the request',
    ],
  ])('is refused as every error is: %s', async (_case, request, status, message) => {
    const answer = await raw(request);
    expect(answer).toMatchObject({
      status,
      body: {
        error: { message: expect.stringContaining(message) as string, type: 'invalid_request_error' },
      },
    });
    expect(answer.head).toContain('content-type: application/json');
    expect(answer.head).toContain('connection: close');
  });

  it('is not what a proxy sends: the whole URL', async () => {
    const answer = await raw(
      `GET ${service.url}/live HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
    );
    expect(answer.status).toBe(200);
  });
});
