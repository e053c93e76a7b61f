import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { guardedFetch, refusalOfAddress } from './guarded-fetch.js';

const limits = { maxBytes: 1000, timeoutMs: 5_000, param: 'link_list[3]' };
const open = { ...limits, allowPrivate: true };

describe('refusalOfAddress', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '255.255.255.255',
    '224.0.0.1',
    '::',
    '::1',
    'fe80::1',
    'fd00:ec2::254',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'nonsense',
  ])('refuses %s', (address) => {
    expect(refusalOfAddress(address)).toContain(address);
  });

  it.each(['1.1.1.1', '93.184.216.34', '2606:4700:4700::1111'])('lets %s pass', (address) => {
    expect(refusalOfAddress(address)).toBeUndefined();
  });
});

describe('guardedFetch', () => {
  let server: Server;
  let origin = '';
  let requests = 0;

  beforeAll(async () => {
    server = createServer((request, response) => {
      requests += 1;
      const path = request.url ?? '';
      if (path === '/page') response.setHeader('content-type', 'text/html').end('<p>hello</p>');
      else if (path === '/moved') response.writeHead(302, { location: '/page' }).end();
      else if (path === '/loop') response.writeHead(307, { location: '/loop' }).end();
      else if (path === '/file') response.writeHead(301, { location: 'file:///etc/passwd' }).end();
      else if (path === '/large') response.end('x'.repeat(2000));
      else if (path === '/chunked') endless(response);
      else if (path === '/packed') response.setHeader('content-encoding', 'gzip').end('x');
      else if (path !== '/silent') response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('fetches, following redirects', async () => {
    const page = await guardedFetch(`${origin}/moved`, open);
    expect(Buffer.from(page.bytes).toString()).toBe('<p>hello</p>');
    expect(page).toMatchObject({ mimeType: 'text/html', url: `${origin}/page` });
  });

  it.each([
    'file:///etc/passwd',
    'ftp://example.org/x',
    'not a url',
    'http://user:secret@example.org/',
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://169.254.169.254/latest/meta-data/',
  ])('refuses %s before it connects', async (url) => {
    await expect(guardedFetch(url, limits)).rejects.toMatchObject({
      code: 'forbidden_url',
      status: 400,
      param: 'link_list[3]',
    });
  });

  it('refuses a name that resolves to a private address, when it connects', async () => {
    const before = requests;
    const port = new URL(origin).port;
    await expect(guardedFetch(`http://localhost:${port}/page`, limits)).rejects.toMatchObject({
      code: 'forbidden_url',
    });
    expect(requests).toBe(before);
  });

  it.each([
    ['/loop', 'unreachable_url', 'redirects more than 5'],
    ['/file', 'forbidden_url', 'only http and https'],
    ['/large', 'payload_too_large', '1000 bytes'],
    ['/chunked', 'payload_too_large', '1000 bytes'],
    ['/packed', 'unreachable_url', 'gzip'],
    ['/missing', 'unreachable_url', 'answered 404'],
  ])('stops at %s with %s', async (path, code, text) => {
    const failed = guardedFetch(origin + path, open);
    await expect(failed).rejects.toMatchObject({
      code,
      param: 'link_list[3]',
      message: expect.stringContaining(text),
    });
  });

  it('gives up on a silent server and when it is cancelled', async () => {
    const slow = guardedFetch(`${origin}/silent`, { ...open, timeoutMs: 50 });
    await expect(slow).rejects.toMatchObject({
      code: 'unreachable_url',
      message: expect.stringContaining('50 ms'),
    });
    const abort = new AbortController();
    const cancelled = guardedFetch(`${origin}/silent`, { ...open, signal: abort.signal });
    abort.abort();
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('says so when nobody listens', async () => {
    await expect(guardedFetch('http://127.0.0.1:1/', open)).rejects.toMatchObject({
      code: 'unreachable_url',
    });
  });
});

/** A body without a length that goes on until the reader hangs up. */
function endless(response: import('node:http').ServerResponse): void {
  const write = () => {
    while (!response.destroyed && response.write('x'.repeat(500)));
  };
  response.on('drain', write);
  write();
}
