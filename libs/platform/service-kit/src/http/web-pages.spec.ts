import type { FastifyInstance, InjectOptions } from 'fastify';
import { describe, expect, it } from 'vitest';
import type { BaseEnvironment } from '../config/environment.js';
import { createLogger } from '../logger.js';
import { createHttpAdapter } from './http-adapter.js';

type Policy = Partial<
  Pick<BaseEnvironment, 'ALLOWED_ORIGINS' | 'ALLOWED_HOSTS' | 'API_KEYS' | 'MEGANEST_ALLOW_OPEN'>
>;
type Headers = Record<string, string>;

const open: Policy = {};
const keyed: Policy = { API_KEYS: ['key'] };
const listed: Policy = { ALLOWED_ORIGINS: ['https://chat.example'] };

/** The server of a service with one route, as `startService` makes it. */
function newServer(policy: Policy): FastifyInstance {
  const environment = {
    BODY_LIMIT_BYTES: 1_000_000,
    REQUEST_TIMEOUT_MS: 5_000,
    API_KEYS: [],
    HOST: 'bound.example',
    ALLOWED_ORIGINS: [],
    ALLOWED_HOSTS: [],
    MEGANEST_ALLOW_OPEN: false,
    ...policy,
  } as unknown as BaseEnvironment;
  const server = createHttpAdapter(
    environment,
    createLogger('test', 'silent'),
  ).getInstance<FastifyInstance>();
  server.addContentTypeParser('multipart/form-data', (_request, body, done) => {
    body.resume();
    done(null);
  });
  server.route({ method: ['GET', 'POST'], url: '/work', handler: () => ({ done: true }) });
  return server;
}

function ask(policy: Policy, headers: Headers, more: InjectOptions = {}) {
  const own = { host: '127.0.0.1:8888', ...(policy.API_KEYS?.[0] && { authorization: 'Bearer key' }) };
  return newServer(policy).inject({ method: 'POST', url: '/work', headers: { ...own, ...headers }, ...more });
}

describe('a page', () => {
  it.each<[string, Headers, Policy]>([
    ['a program, which has no origin', {}, open],
    ['a program with a header of its own library', { 'sec-fetch-mode': 'cors' }, open],
    ['its own page by address', { origin: 'http://127.0.0.1:8888' }, open],
    ['its own page by IPv6 address', { host: '[::1]:8888', origin: 'http://[::1]:8888' }, open],
    ['its own page by localhost', { host: 'localhost:8888', origin: 'http://localhost:8888' }, open],
    [
      'its own page behind a proxy that names another host',
      { origin: 'https://ai.example', 'sec-fetch-site': 'same-origin' },
      open,
    ],
    [
      'the same, in a browser that does not say so',
      { origin: 'https://ai.example', 'x-forwarded-host': 'ai.example' },
      open,
    ],
    ['its own page by name, with keys', { host: 'ai.example', origin: 'https://ai.example' }, keyed],
    ['a page that is allowed', { origin: 'https://chat.example', 'sec-fetch-site': 'cross-site' }, listed],
    [
      'a page of any origin, with keys',
      { origin: 'https://a.example' },
      { ...keyed, ALLOWED_ORIGINS: ['*'] },
    ],
    ['the name that it listens on', { host: 'bound.example:8888' }, open],
    ['a listed name', { host: 'AI.example:8888' }, { ALLOWED_HOSTS: ['ai.example'] }],
    ['the name of a container on a trusted network', { host: 'gateway:8888' }, { MEGANEST_ALLOW_OPEN: true }],
    [
      'the name of a service of Kubernetes on a trusted network',
      { host: 'gateway.ai.svc.cluster.local' },
      { MEGANEST_ALLOW_OPEN: true },
    ],
  ])('may use the server: %s', async (_what, headers, policy) => {
    const answer = await ask(policy, headers);
    expect(answer.json()).toEqual({ done: true });
  });

  it.each<[string, Headers, Policy, string]>([
    ['a page of the internet', { origin: 'https://evil.example' }, open, 'forbidden_origin'],
    ['the same, with keys', { origin: 'https://evil.example' }, keyed, 'forbidden_origin'],
    ['a page of another port of this machine', { origin: 'http://127.0.0.1:3000' }, open, 'forbidden_origin'],
    [
      'a page of the same name in plain text',
      { host: 'ai.example', origin: 'http://ai.example', 'sec-fetch-site': 'cross-site' },
      keyed,
      'forbidden_origin',
    ],
    ['a sandboxed page', { origin: 'null' }, open, 'forbidden_origin'],
    ['a page without origin', { 'sec-fetch-site': 'cross-site' }, open, 'forbidden_origin'],
    ['a name that was pointed at it', { host: 'evil.example:8888' }, open, 'forbidden_host'],
    [
      'its page, which is of the same origin then',
      { host: 'evil.example:8888', origin: 'http://evil.example:8888', 'sec-fetch-site': 'same-origin' },
      open,
      'forbidden_host',
    ],
    [
      'a public name on a trusted network',
      { host: 'evil.example' },
      { MEGANEST_ALLOW_OPEN: true },
      'forbidden_host',
    ],
    ['a container name on another network', { host: 'gateway:8888' }, open, 'forbidden_host'],
  ])('is refused: %s', async (_what, headers, policy, code) => {
    const answer = await ask(policy, headers);
    expect(answer.statusCode).toBe(403);
    expect(answer.json()).toMatchObject({ error: { code } });
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('sends no form across sites', async () => {
    const payload =
      '--B\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nhello\r\n--B--\r\n';
    const headers = {
      origin: 'https://evil.example',
      'sec-fetch-site': 'cross-site',
      'content-type': 'multipart/form-data; boundary=B',
    };
    expect((await ask(open, headers, { payload })).statusCode).toBe(403);
  });

  it('may link to the server: its reader follows the link, and the page sees nothing', async () => {
    const visit = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    const follow = (dest: string, method: 'GET' | 'POST') =>
      ask(open, { ...visit, 'sec-fetch-dest': dest }, { method });
    expect((await follow('document', 'GET')).statusCode).toBe(200);
    expect((await follow('iframe', 'GET')).statusCode).toBe(403);
    expect((await follow('document', 'POST')).statusCode).toBe(403);
  });
});

describe('CORS', () => {
  const origin = 'https://chat.example';
  const preflight = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type,x-stainless-os',
  };

  it('answers the preflight of an allowed page without a key, also on paths that have no OPTIONS', async () => {
    const server = newServer({ ...listed, ...keyed });
    const headers = {
      host: '127.0.0.1:8888',
      ...preflight,
      'access-control-request-private-network': 'true',
    };
    const answer = await server.inject({ method: 'OPTIONS', url: '/work', headers });
    expect(answer.statusCode).toBe(204);
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': expect.stringContaining('DELETE') as string,
      'access-control-allow-headers': 'authorization,content-type,x-stainless-os',
      'access-control-allow-private-network': 'true',
      vary: 'origin',
    });
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  });

  it('refuses the preflight of another page', async () => {
    const other = { ...preflight, origin: 'https://evil.example' };
    const answer = await ask(listed, other, { method: 'OPTIONS' });
    expect(answer.statusCode).toBe(403);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('lets an allowed page read answers and errors with their headers', async () => {
    const shown = {
      'access-control-allow-origin': origin,
      'access-control-expose-headers': '*',
      vary: 'origin',
    };
    expect((await ask(listed, { origin })).headers).toMatchObject(shown);
    const refused = await ask({ ...listed, ...keyed }, { origin, authorization: 'Bearer wrong' });
    expect(refused.statusCode).toBe(401);
    expect(refused.headers).toMatchObject(shown);
  });

  it('tells caches that answers differ by origin, and is silent where no page is allowed', async () => {
    expect((await ask(listed, {})).headers).toMatchObject({ vary: 'origin' });
    expect((await ask(open, {})).headers.vary).toBeUndefined();
  });
});
