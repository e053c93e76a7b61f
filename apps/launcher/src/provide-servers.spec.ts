import { freePort } from '#testing';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { checkReachable } from './provide-servers.js';

it('is content when one server of a list answers', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const urls = `nats://127.0.0.1:${await freePort()}, 127.0.0.1:${port}`;
  await expect(checkReachable('NATS_URL', urls, 4222)).resolves.toBeUndefined();
  server.close();
});

it('names the variable and the address of a server that does not answer', async () => {
  const port = await freePort();
  const check = checkReachable('DATABASE_URL', `postgres://user@127.0.0.1:${port}/db`, 5432);
  await expect(check).rejects.toThrow(`DATABASE_URL: nothing answers on 127.0.0.1:${port} (`);
});
