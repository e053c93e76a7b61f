import { inspectNats } from '#platform/messaging';
import { natsAccess } from '#platform/service-kit';
import { freePort } from '#platform/testing';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readLauncherEnvironment } from './environment.js';
import { checkReachable, provideNats } from './provide-servers.js';

it('writes the URL of its NATS server for services that the user starts, and removes it at the end', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'provide-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const server = await provideNats(readLauncherEnvironment({ MEGANEST_DATA_DIR: directory }), {});
  const file = join(directory, 'nats', 'url');
  const url = await readFile(file, 'utf8');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const inspect = (NATS_URL: string) => inspectNats(natsAccess(readLauncherEnvironment({ NATS_URL })));
  expect(await inspect(url)).toMatchObject({ jetStream: true });
  await expect(inspect(server.url)).rejects.toThrow(/authorization/i);
  await server.stop();
  await expect(stat(file)).rejects.toThrow('ENOENT');
});

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
