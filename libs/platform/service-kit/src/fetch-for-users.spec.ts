import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchForUsers, refusalOfUrl } from './fetch-for-users.js';
import { refusalOfAddress } from './guarded-fetch.js';

let server: Server;
let url: string;

beforeAll(async () => {
  server = createServer((_request, response) => response.end('inside'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

describe('fetchForUsers', () => {
  it('reaches no private address, by number or by name', async () => {
    const owned = fetchForUsers(false);
    for (const target of [url, url.replace('127.0.0.1', 'localhost')])
      await expect(owned.fetch(target)).rejects.toMatchObject({ cause: { name: 'ForbiddenAddressError' } });
    await owned.close();
  });

  it('reaches them where that is allowed', async () => {
    const owned = fetchForUsers(true);
    expect(await (await owned.fetch(url)).text()).toBe('inside');
    await owned.close();
  });
});

describe('refusalOfUrl', () => {
  it.each([
    ['https://mcp.example/mcp', false],
    ['nonsense', true],
    ['file:///etc/passwd', true],
    ['https://user:secret@mcp.example', true],
    ['http://169.254.169.254/latest', true],
    ['http://[::1]:80', true],
  ])('%s', (text, refused) => {
    expect(refusalOfUrl(text, false) !== undefined).toBe(refused);
  });

  it('lets private addresses pass where that is allowed', () => {
    expect(refusalOfUrl('http://127.0.0.1:3000/mcp', true)).toBeUndefined();
  });
});

describe('refusalOfAddress', () => {
  it.each(['168.63.129.16', '::ffff:168.63.129.16'])('refuses %s, a platform address', (address) => {
    expect(refusalOfAddress(address)).toBeDefined();
  });
});

it('does not tell which address an internal name has', async () => {
  const owned = fetchForUsers(false);
  const failure = await owned.fetch(url.replace('127.0.0.1', 'localhost')).catch((error: unknown) => error);
  expect((failure as { cause: Error }).cause.message).not.toMatch(/127|::1|loopback/);
  await owned.close();
});
