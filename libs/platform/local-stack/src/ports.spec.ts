import { createServer } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { freePort, isPortFree } from './ports.js';

describe('freePort', () => {
  it('gives a port once, although nothing listens there yet', async () => {
    // Without reservations two of 600 are the same with a probability of 99.96%.
    const ports = await Promise.all(Array.from({ length: 600 }, () => freePort()));
    expect(new Set(ports).size).toBe(ports.length);
  });

  it('gives a port on which a server can listen', async () => {
    const port = await freePort();
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    expect(await isPortFree(port)).toBe(false);
    await new Promise((resolve) => server.close(resolve));
    expect(await isPortFree(port)).toBe(true);
  });
});
