import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fetchPinnedPackage } from './pinned-package.js';

it.runIf(process.platform === 'linux')('refuses a package with another hash', async () => {
  const server = createServer((_request, response) => response.end('another program')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const directory = mkdtempSync(join(tmpdir(), 'pinned-'));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(fetchPinnedPackage(directory, url)).rejects.toThrow(
    /nats-server_\S+\.deb has the SHA-256 \w{64}, expected \w{64}/,
  );
  server.close();
  await rm(directory, { recursive: true });
});
