import type { FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ApiKeys, auditedAction } from './api-keys.js';
import { ownerOf, type Caller, KeyRing } from './key-ring.js';

const logger = {
  info: vi.fn<() => void>(),
  warn: vi.fn<() => void>(),
  error: vi.fn<() => void>(),
};

function request(url: string, authorization?: string, method = 'GET', ip = '127.0.0.1'): FastifyRequest {
  return { method, url, routeOptions: { url }, ip, headers: { authorization } } as unknown as FastifyRequest;
}

describe('API_KEYS', () => {
  const keys = new ApiKeys({ API_KEYS: ['first', 'second'] }, logger);

  it.each(['first', 'second'])('let the key %s pass, wherever it asks', (key) => {
    for (const url of ['/v1/models', '/metrics'])
      expect(() => keys.check(request(url, `Bearer ${key}`))).not.toThrow();
    expect(() => keys.check(request('/v1/dataprep/ingest', `Bearer ${key}`, 'POST'))).not.toThrow();
  });

  it('own by the hash of the key, as ever', () => {
    const asked = request('/v1/models', 'bearer  first');
    keys.check(asked);
    expect(ownerOf(asked)).toBe(createHash('sha256').update('first').digest('hex'));
  });

  it.each([undefined, 'Bearer third', 'Bearer firs', 'first', 'Basic first', 'Bearer '])(
    'refuse %s',
    (authorization) => {
      expect(() => keys.check(request('/v1/models', authorization))).toThrow(/API key/);
    },
  );

  it('take the key of a WebSocket from its protocols, which a page can set', () => {
    const asked = request('/v1/realtime');
    asked.headers['sec-websocket-protocol'] = 'realtime, openai-insecure-api-key.second';
    expect(() => keys.check(asked)).toThrow(/API key/);
    asked.headers.upgrade = 'websocket';
    expect(() => keys.check(asked)).not.toThrow();
    asked.headers['sec-websocket-protocol'] = 'realtime, openai-insecure-api-key.third';
    expect(() => keys.check(asked)).toThrow(/API key/);
  });

  it.each(['x-api-key', 'api-key'])('take the key of other dialects from the header %s', (name) => {
    const asked = request('/v1/messages');
    asked.headers[name] = 'second';
    keys.check(asked);
    expect(ownerOf(asked)).toBe(createHash('sha256').update('second').digest('hex'));
    asked.headers[name] = 'third';
    expect(() => keys.check(asked)).toThrow(/API key/);
  });

  it('leave the probes open', () => {
    expect(() => keys.check(request('/ready?x=1'))).not.toThrow();
    expect(() => keys.check(request('/v1/health_check'))).not.toThrow();
  });

  it('let everything pass when there are none', () => {
    const asked = request('/v1/models');
    expect(() => new ApiKeys({ API_KEYS: [] }, logger).check(asked)).not.toThrow();
    expect(ownerOf(asked)).toBe('anonymous');
  });

  it('do not count requests without a key', () => {
    const strict = new ApiKeys({ API_KEYS: ['first'] }, logger);
    const bare = () => strict.check(request('/v1/models', undefined, 'GET', '10.0.0.8'));
    for (let count = 0; count < 30; count += 1) expect(bare).toThrow(/Incorrect or missing/);
  });

  it('tell an address that sends many wrong ones to wait, and still let a right one pass', () => {
    const strict = new ApiKeys({ API_KEYS: ['first'] }, logger);
    const guess = () => strict.check(request('/v1/models', 'Bearer guess', 'GET', '10.0.0.9'));
    for (let count = 0; count < 20; count += 1) expect(guess).toThrow(/API key/);
    expect(guess).toThrow(/try again in/);
    expect(() => strict.check(request('/v1/models', 'Bearer guess'))).toThrow(/Incorrect/);
    expect(() => strict.check(request('/v1/models', 'Bearer first', 'GET', '10.0.0.9'))).not.toThrow();
  });
});

describe('API_KEYS_FILE', () => {
  let directory: string;
  let path: string;

  const entry = (key: string, more: Record<string, unknown> = {}) => ({
    name: 'alice',
    sha256: createHash('sha256').update(key).digest('hex'),
    ...more,
  });
  const write = (...keys: unknown[]) => writeFileSync(path, JSON.stringify({ keys }));
  const nameOf = (caller: Caller | undefined) => caller?.name;

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'meganest-keys-'));
    path = join(directory, 'keys.yaml');
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  it('gives a key only its scopes, by the route and not by the spelling of the path', () => {
    write(
      entry('reader', { scopes: ['read'] }),
      entry('writer', { name: 'bob' }),
      entry('admin', { name: 'carol', scopes: ['admin'] }),
    );
    const keys = new ApiKeys({ API_KEYS: [], API_KEYS_FILE: path }, logger);
    const ask = (key: string, method: string, url: string) => () =>
      keys.check(request(url, `Bearer ${key}`, method));
    expect(ask('reader', 'POST', '/v1/chat/completions')).not.toThrow();
    expect(ask('reader', 'POST', '/v1/dataprep/get')).not.toThrow();
    for (const url of ['/v1/dataprep/ingest', '/v1/dataprep/delete', '/v1/dataprep'])
      expect(ask('reader', 'POST', url)).toThrow('does not have the scope write');
    expect(ask('reader', 'DELETE', '/v1/dataprep/jobs/:id')).toThrow('scope write');
    expect(ask('writer', 'POST', '/v1/dataprep/ingest')).not.toThrow();
    expect(ask('writer', 'GET', '/metrics')).toThrow('The API key bob does not have the scope admin');
    expect(ask('writer', 'GET', '/v1/instances')).toThrow('scope admin');
    for (const [method, url] of [
      ['GET', '/v1/engines'],
      ['DELETE', '/v1/engines/:id'],
      ['POST', '/add_worker'],
      ['GET', '/list_workers'],
    ] as const)
      expect(ask('writer', method, url)).toThrow('scope admin');
    expect(ask('admin', 'POST', '/v1/engines')).not.toThrow();
    expect(ask('admin', 'GET', '/v1/statistics')).not.toThrow();
    expect(ask('admin', 'POST', '/v1/dataprep/ingest')).not.toThrow();
    expect(ask('none', 'GET', '/v1/models')).toThrow(/Incorrect/);
    keys.close();
  });

  it('keeps what a name owns when its key is replaced, and refuses a key from its day on', () => {
    write(entry('old', { expires: '2026-01-02' }), entry('new', { rate_limit_per_minute: 7 }));
    const ring = new KeyRing({ API_KEYS: ['plain'], API_KEYS_FILE: path }, logger);
    const before = Date.parse('2026-01-01');
    expect(ring.find('old', before)?.owner).toBe('name:alice');
    expect(ring.find('new', before)).toMatchObject({ owner: 'name:alice', ratePerMinute: 7 });
    expect(ring.find('old', Date.parse('2026-01-02'))).toBeUndefined();
    expect(ring.find('plain')?.scopes.has('admin')).toBe(true);
    ring.close();
  });

  it('is read again, and a broken one changes nothing', () => {
    write(entry('one'));
    const ring = new KeyRing({ API_KEYS: [], API_KEYS_FILE: path }, logger);
    expect(nameOf(ring.find('one'))).toBe('alice');
    writeFileSync(path, 'keys: [{ name: x }');
    ring.reread();
    expect(nameOf(ring.find('one'))).toBe('alice');
    write(entry('two', { name: 'bob' }));
    ring.reread();
    expect([nameOf(ring.find('one')), nameOf(ring.find('two'))]).toEqual([undefined, 'bob']);
    ring.close();
  });

  it.each([
    ['a missing file', undefined, 'ENOENT'],
    ['a key that is not hashed', 'keys: [{ name: a, key: secret }]', 'keys.0'],
    [
      'an unknown scope',
      `keys: [{ name: a, sha256: '${'0'.repeat(64)}', scopes: [root] }]`,
      'keys.0.scopes.0',
    ],
    ['a name with a colon', `keys: [{ name: 'a:b', sha256: '${'0'.repeat(64)}' }]`, 'keys.0.name'],
    ['a file that is too large', ' '.repeat(8 * 1024 * 1024 + 1), 'which is the limit'],
  ])('stops the start with %s', (_case, content, reason) => {
    rmSync(path, { force: true });
    if (content !== undefined) writeFileSync(path, content);
    expect(() => new KeyRing({ API_KEYS: [], API_KEYS_FILE: path }, logger)).toThrow(reason);
  });
});

const of = (method: string, url: string | undefined, more: Record<string, unknown> = {}) =>
  auditedAction({ method, routeOptions: { url }, ...more } as unknown as FastifyRequest);
const meganestCaller = { name: 'alice', owner: 'name:alice', scopes: new Set() };

describe('the audit log', () => {
  it('says who changed and who read which documents', () => {
    const body = { file_path: 'a.txt', collection: 'manuals' };
    expect(of('POST', '/v1/dataprep/delete', { body, meganestCaller })).toEqual({
      key: 'alice',
      action: 'POST /v1/dataprep/delete',
      collection: 'manuals',
      document: 'a.txt',
    });
    expect(of('POST', '/v1/dataprep/ingest', { auditedCollection: 'default' })).toEqual({
      key: 'anonymous',
      action: 'POST /v1/dataprep/ingest',
      collection: 'default',
    });
    expect(of('POST', '/v1/retrieval', { body: { collection: 'x'.repeat(500) } })?.collection).toHaveLength(
      200,
    );
    expect(of('POST', '/v1/chatqna', { body: { messages: 'x', collection: 'manuals' } })).toMatchObject({
      action: 'POST /v1/chatqna',
      collection: 'manuals',
    });
    expect(of('POST', '/v1/vector_stores/:id/search', { params: { id: 'vs_1' } })).toMatchObject({
      collection: 'vs_1',
    });
  });

  it.each([
    ['GET', '/v1/models'],
    ['POST', '/v1/embeddings'],
    ['OPTIONS', '/v1/dataprep/ingest'],
    ['POST', undefined],
  ])('leaves out %s %s', (method, url) => {
    expect(of(method, url)).toBeUndefined();
  });
});
