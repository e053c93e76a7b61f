import { MegaNestError } from '#platform/contracts';
import Fastify, { type FastifyRequest } from 'fastify';
import { beforeAll, describe, expect, it } from 'vitest';
import { errorEnvelope, noteRoutes, otherMethods, sendError } from './error.filter.js';

describe('errorEnvelope', () => {
  it("has OpenAI's four fields and nothing else", () => {
    const error = new MegaNestError('invalid_request', {
      detail: 'k: too big',
      param: 'k',
      service: 'retrieval',
    });
    expect(errorEnvelope(error)).toEqual({
      error: { message: 'k: too big', type: 'invalid_request_error', param: 'k', code: 'invalid_request' },
    });
  });
});

describe('route methods', () => {
  const server = Fastify();

  beforeAll(async () => {
    noteRoutes(server);
    const answer = () => 'x';
    server.get('/files', answer).post('/files', answer).delete('/files/:id', answer);
    server
      .get('/files/:id/content', answer)
      .get('/models/*', answer)
      .get('/socket', answer)
      .post('*', answer);
    server.decorate('postPaths', { has: (path) => path === '/from-a-file' });
    await server.ready();
  });

  it.each([
    ['PUT', '/files', ['GET', 'HEAD', 'POST']],
    ['GET', '/files/file-1', ['DELETE']],
    ['DELETE', '/files/file-1/content?x=/y', ['GET', 'HEAD']],
    ['POST', '/models/a/b', ['GET', 'HEAD']],
    ['GET', '/from-a-file', ['POST']],
    // A refused GET is that of a WebSocket.
    ['GET', '/socket', []],
    ['GET', '/nothing', []],
    ['GET', '/files/file-1/contents', []],
  ])('names the methods beside %s of %s', (method, url, expected) => {
    expect(otherMethods({ method, url, server } as unknown as FastifyRequest).toSorted()).toEqual(
      expected.toSorted(),
    );
  });
});

describe('an error in place of an answer', () => {
  it.each([['audio/ogg; codecs=opus'], ['text/event-stream'], ['application/octet-stream']])(
    'has its own headers where %s was wanted',
    async (type) => {
      const server = Fastify();
      server.get('/', (_request, reply) => {
        void reply
          .header('content-type', type)
          .header('content-disposition', 'attachment')
          .header('etag', '"1"');
        sendError(reply, new MegaNestError('service_unavailable', { service: 'tts', detail: 'it stopped' }));
      });
      const answer = await server.inject('/');
      expect(answer.statusCode).toBe(503);
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'retry-after': '1',
      });
      expect(answer.headers).not.toHaveProperty('content-disposition');
      expect(answer.headers).not.toHaveProperty('etag');
      expect(answer.json()).toMatchObject({ error: { code: 'service_unavailable', type: 'server_error' } });
      await server.close();
    },
  );
});
