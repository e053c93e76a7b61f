import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { sendEventStream } from './event-stream.js';
import { ignoredHeader, setIgnored, setSupport } from './http-call.js';

describe('ignoredHeader', () => {
  it('names each field once', () => {
    expect(ignoredHeader(['a', 'tools.web_search', 'a'])).toBe('a, tools.web_search');
  });

  it('holds nothing that a header cannot, and is not long', () => {
    expect(ignoredHeader(['日本', 'a\r\nb', 'x y'])).toBe('??, a??b, x?y');
    expect(ignoredHeader([`x${'y'.repeat(300_000)}`]).length).toBeLessThanOrEqual(128);
    expect(ignoredHeader(Array.from({ length: 1000 }, (_, index) => `field${index}`)).length).toBe(1024);
  });
});

it('setSupport sums up the answers', async () => {
  const app = Fastify();
  app.get<{ Querystring: { cited?: string } }>('/', (request, reply) => {
    const support = { statements: 2, cited: Number(request.query.cited), unknown: [7] };
    setSupport(reply, request.query.cited ? [support, { ...support, statements: 1, cited: 1 }] : []);
    return {};
  });
  const { headers } = await app.inject('/?cited=1');
  expect(headers).toMatchObject({
    'x-meganest-citation-coverage': '0.67',
    'x-meganest-unknown-citations': '7',
  });
  expect((await app.inject('/')).headers).not.toHaveProperty('x-meganest-citation-coverage');
  await app.close();
});

describe('a streamed answer', () => {
  async function* frames() {
    yield 'data: 1\n\n';
  }

  it('is sent whatever the ignored fields are called', async () => {
    const app = Fastify();
    app.get('/', (_request, reply) => {
      setIgnored(reply, ['日本']);
      return sendEventStream(reply, frames(), () => '');
    });
    const answer = await app.inject('/');
    expect(answer.headers['x-meganest-ignored']).toBe('??');
    expect(answer.body).toBe('data: 1\n\n');
    await app.close();
  });

  it('ends the connection where its head cannot be written', async () => {
    const app = Fastify();
    app.get('/', (_request, reply) => {
      void reply.header('x-bad', '日本');
      return sendEventStream(reply, frames(), () => '');
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    await expect(fetch(url, { signal: AbortSignal.timeout(20_000) })).rejects.toThrow(/fetch failed/);
    await app.close();
  });
});
