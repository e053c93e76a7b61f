import { EventEmitter, once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { findNatsServer, NatsServerNotFoundError, startNatsServer } from '#local-stack';
import { cacheDirectory, createTemporaryDirectory, startNats } from '#testing';

describe('nats-server', () => {
  it('is fetched once by several callers at the same time, and found in the cache after that', async () => {
    const directory = await createTemporaryDirectory();
    const find = () => findNatsServer({ cacheDirectory: directory.path, searchPath: '' });
    try {
      const found = await Promise.all([find(), find(), find()]);
      expect(found.map(({ source }) => source).filter((source) => source !== 'cache')).toHaveLength(1);
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
