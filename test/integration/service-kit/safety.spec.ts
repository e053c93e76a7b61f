import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import {
  cleanEnvironment,
  repositoryRoot,
  startNats,
  startService,
  type TestNats,
  type TestService,
} from '#platform/testing';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let nats: TestNats;
let service: TestService;

beforeAll(async () => {
  nats = await startNats();
  service = await startService('embedding', {
    NATS_URL: nats.url,
    API_KEYS: 'first-key,second-key',
    BODY_LIMIT_BYTES: '4096',
  });
});
afterAll(async () => {
  await service?.stop();
  await nats?.stop();
});

async function post(path: string, body: string, headers: Record<string, string> = {}) {
  const answer = await request(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer first-key', ...headers },
    body,
  });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: (await answer.body.json()) as { error: unknown },
  };
}

describe('a service with keys', () => {
  it.each(['first-key', 'second-key'])('answers with %s', async (key) => {
    expect(await post('/v1/embeddings', '{"input":"x"}', { authorization: `Bearer ${key}` })).toMatchObject({
      status: 200,
    });
  });

  it.each(['', 'Bearer', 'Bearer third-key', 'Basic first-key'])(
    "refuses '%s' in OpenAI's shape",
    async (authorization) => {
      const answer = await post('/v1/embeddings', '{"input":"x"}', { authorization });
      expect(answer).toMatchObject({
        status: 401,
        headers: { 'www-authenticate': 'Bearer' },
        body: { error: { code: 'invalid_api_key', type: 'authentication_error', param: null } },
      });
    },
  );

  it('leaves the probes open', async () => {
    for (const path of ['/live', '/ready', '/v1/health_check']) {
      const { statusCode, body } = await request(`${service.url}${path}`);
      await body.dump();
      expect(statusCode).toBe(200);
    }
  });

  it('tells what it depends on, and how it is, to callers with a key', async () => {
    const ask = async (headers: Record<string, string>) => {
      const { body } = await request(`${service.url}/ready`, { headers });
      return ((await body.json()) as { dependencies: object[] }).dependencies;
    };
    expect(await ask({})).toEqual([{ name: 'model', healthy: true }]);
    expect(await ask({ authorization: 'Bearer first-key' })).toEqual([
      { name: 'model', healthy: true, detail: 'nano-embed', latencyMs: expect.any(Number) as number },
    ]);
  });
});

describe('limits of a body', () => {
  it('refuses one that is too large', async () => {
    const answer = await post('/v1/embeddings', JSON.stringify({ input: 'x'.repeat(5_000) }));
    expect(answer).toMatchObject({ status: 413, body: { error: { code: 'payload_too_large' } } });
  });

  it('refuses one that is nested too deeply', async () => {
    const answer = await post('/v1/embeddings', `{"input":${'['.repeat(200)}1${']'.repeat(200)}}`);
    const message = expect.stringContaining('deeper than 64 levels') as string;
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_request', message } } });
  });

  it('refuses another content type and says which one is wanted', async () => {
    const answer = await post('/v1/embeddings', 'input=x', {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(answer).toMatchObject({
      status: 415,
      body: { error: { message: expect.stringContaining('application/json') } },
    });
  });
});

describe('an address that others can reach', () => {
  it.each([
    ['without keys', {}, 'HOST: refusing to listen on 0.0.0.0 without API_KEYS'],
    [
      'where its container is published there',
      { PUBLISHED_HOST: '192.0.2.1' },
      'refusing to listen on 192.0.2.1',
    ],
    ['with a list of no keys', { API_KEYS: ',' }, 'API_KEYS: Expected at least one key'],
    ['with keys that can be guessed', { API_KEYS: 'short' }, 'API_KEYS: a key has fewer than 16 characters'],
    ['with a file that is not there', { API_KEYS_FILE: '/nonexistent' }, 'API_KEYS_FILE: ENOENT'],
  ])('is refused %s, naming the variable', async (_case, keys, reason) => {
    const child = spawn(process.execPath, ['dist/embedding.js'], {
      cwd: repositoryRoot,
      env: { ...cleanEnvironment(), NATS_URL: nats.url, HOST: '0.0.0.0', EMBEDDING_PORT: '0', ...keys },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [output, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect(code).toBe(1);
    expect(output).toContain(reason);
  });
});
