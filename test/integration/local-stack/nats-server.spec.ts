import { EventEmitter, once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findNatsServer, NatsServerNotFoundError, startNatsServer } from '#platform/local-stack';
import { cacheDirectory, createTemporaryDirectory, startNats } from '#platform/testing';

describe('nats-server', () => {
  it('is fetched once by several callers at the same time, and found in the cache after that', async () => {
    const directory = await createTemporaryDirectory();
    const find = () => findNatsServer({ cacheDirectory: directory.path, searchPath: '' });
    try {
      const found = await Promise.all([find(), find(), find()]);
      expect(found.map(({ source }) => source).filter((source) => source !== 'cache')).toHaveLength(1);
      expect(found[0]?.version).toMatch(/^2\.(10\.(2[7-9]|[3-9]\d)|11\.[1-9]|1[2-9]\.)/);
      expect(new Set(found.map(({ path }) => path)).size).toBe(1);
      expect(await readdir(directory.path)).toEqual(['nats-server']);
      expect((await find()).source).toBe('cache');
    } finally {
      await directory.remove();
    }
  });

  it('says what to install when there is none', async () => {
    const missing = findNatsServer({ cacheDirectory: '/nowhere', searchPath: '', fetch: false });
    await expect(missing).rejects.toThrow(NatsServerNotFoundError);
    await expect(missing).rejects.toThrow(/apt-get install nats-server/);
    await expect(findNatsServer({ explicitPath: '/nowhere/nats', cacheDirectory })).rejects.toThrow(
      /\/nowhere\/nats/,
    );
  });

  it('is not used where it is older than the first release without known holes', async () => {
    const directory = await createTemporaryDirectory();
    const old = join(directory.path, 'nats-server');
    await writeFile(old, '#!/bin/sh\necho "nats-server: v2.9.10"\n', { mode: 0o755 });
    const said: string[] = [];
    try {
      const onPath = findNatsServer({
        cacheDirectory,
        searchPath: directory.path,
        onProgress: (message) => said.push(message),
      });
      expect((await onPath).path).toBe(join(cacheDirectory, 'nats-server'));
      expect(said[0]).toMatch(/^not using .*version 2\.9\.10 has known vulnerabilities; 2\.10\.27/);
      await expect(findNatsServer({ explicitPath: old, cacheDirectory })).rejects.toThrow(
        /version 2\.9\.10 has known vulnerabilities; 2\.10\.27 or 2\.11\.1 or later is needed/,
      );
    } finally {
      await directory.remove();
    }
  });

  it('comes back on the same port after a crash, and leaves when it is told to', async () => {
    const nats = await startNats();
    const { path: program } = await findNatsServer({ cacheDirectory });
    const directory = await createTemporaryDirectory();
    const states: string[] = [];
    const events = new EventEmitter();
    const secondReady = once(events, 'second ready');
    const server = await startNatsServer({
      program,
      dataDirectory: directory.path,
      restart: { initialMs: 1, maxMs: 10, resetAfterMs: 1_000 },
      onEvent: ({ type }) => {
        states.push(type);
        if (states.filter((state) => state === 'ready').length === 2) events.emit('second ready');
      },
    });
    expect(server.url).not.toBe(nats.url);
    const { url } = server;
    server.process.signal('SIGKILL');
    await secondReady;
    expect(server.url).toBe(url);
    await server.stop();
    expect(states).toEqual(['started', 'ready', 'exited', 'started', 'ready', 'stopped']);
    expect((await server.exited).code ?? 0).toBeLessThanOrEqual(1);
    await Promise.all([nats.stop(), directory.remove()]);
  });
});
