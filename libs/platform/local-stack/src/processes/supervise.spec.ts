import { request } from 'undici';
import { expect, it } from 'vitest';
import { liveOverHttp, waitForLine } from './readiness.js';
import {
  StartFailedError,
  superviseProcess,
  type SupervisionEvent,
  type SupervisionOptions,
} from './supervise.js';

const quick = { initialMs: 1, maxMs: 4, resetAfterMs: 60_000 };

function superviseScript(script: string, options: Partial<SupervisionOptions> = {}) {
  const events: SupervisionEvent[] = [];
  const supervised = superviseProcess({
    name: 'script',
    command: process.execPath,
    args: () => ['-e', script],
    lifeline: 'watcher',
    restart: false,
    onEvent: (event) => events.push(event),
    ...options,
  });
  return { supervised, events };
}

const sayReady = {
  readiness: (child: Parameters<NonNullable<SupervisionOptions['readiness']>>[0]) =>
    waitForLine(child, ({ text }) => (text === 'ready' ? true : undefined)).then(() => undefined),
};

it('is ready when the probe says so, and ends on SIGTERM', async () => {
  const { supervised, events } = superviseScript(
    'console.log("ready"); setInterval(() => {}, 1e6)',
    sayReady,
  );
  await supervised.whenReady();
  await supervised.stop();
  expect(events.map(({ type }) => type)).toEqual(['started', 'ready', 'stopped']);
  expect(await supervised.whenFinished()).toMatchObject({ signal: 'SIGTERM' });
});

it('kills a child that ignores SIGTERM after the grace', async () => {
  const script = 'process.on("SIGTERM", () => {}); console.log("ready"); setInterval(() => {}, 1e6)';
  const { supervised } = superviseScript(script, { ...sayReady, stopGraceMs: 50 });
  await supervised.whenReady();
  await supervised.stop();
  expect(await supervised.whenFinished()).toMatchObject({ signal: 'SIGKILL' });
});

it('says why a child never became ready, with its last words', async () => {
  const { supervised } = superviseScript('console.error("no model found"); process.exit(3)', sayReady);
  await expect(supervised.whenReady()).rejects.toThrow(StartFailedError);
  await expect(supervised.whenReady()).rejects.toThrow(/script exited with code 3[\s\S]*no model found/);
  await supervised.stop();
});

it('kills a child that is not ready in time', async () => {
  const { supervised } = superviseScript('setInterval(() => {}, 1e6)', { ...sayReady, startTimeoutMs: 100 });
  await expect(supervised.whenReady()).rejects.toThrow('script was not ready after 100 ms');
  expect(await supervised.whenFinished()).toMatchObject({ signal: 'SIGKILL' });
});

it('restarts with growing waits up to a limit', async () => {
  const waits: (number | undefined)[] = [];
  const done = new Promise<void>((resolve) => {
    const { supervised } = superviseScript('process.exit(1)', {
      restart: quick,
      onEvent: (event) => {
        if (event.type !== 'exited') return;
        waits.push(event.restartInMs);
        if (waits.length === 4) void supervised.stop().then(resolve);
      },
    });
  });
  await done;
  expect(waits).toEqual([1, 2, 4, 4]);
});

it('reports a program that does not exist', async () => {
  const { supervised } = superviseScript('', { ...sayReady, command: '/nowhere/program' });
  await expect(supervised.whenReady()).rejects.toThrow(
    /could not be started: spawn \/nowhere\/program ENOENT/,
  );
});

it('leaves a child alone that is busy for longer than the probes wait', async () => {
  const script = `
    const server = require('node:http').createServer((request, reply) => {
      const until = Date.now() + (request.url === '/work' ? 2000 : 0);
      while (Date.now() < until);
      reply.end();
    });
    server.listen(0, '127.0.0.1', () => console.log('port', server.address().port));`;
  let url = '';
  const { supervised, events } = superviseScript(script, {
    restart: quick,
    readiness: async (child) => {
      const port = await waitForLine(child, ({ text }) => /^port (\d+)/.exec(text)?.[1]);
      url = `http://127.0.0.1:${port}`;
    },
    liveness: { intervalMs: 200, misses: 3, probe: (abort) => liveOverHttp(`${url}/live`).probe(abort) },
  });
  await supervised.whenReady();
  expect((await request(`${url}/work`)).statusCode).toBe(200);
  expect(events.map(({ type }) => type)).toEqual(['started', 'ready']);
  await supervised.stop();
});

it('ends a child that hangs, and restarts it', async () => {
  const script = `
    const server = require('node:http').createServer((_, reply) => reply.end());
    server.listen(0, '127.0.0.1', () => console.log('port', server.address().port));`;
  const urls: string[] = [];
  const { supervised, events } = superviseScript(script, {
    restart: quick,
    readiness: async (child) => {
      const port = await waitForLine(child, ({ text }) => /^port (\d+)/.exec(text)?.[1]);
      urls.push(`http://127.0.0.1:${port}/live`);
    },
    liveness: {
      intervalMs: 100,
      misses: 3,
      probe: (abort) => liveOverHttp(urls.at(-1) ?? '').probe(abort),
    },
  });
  await supervised.whenReady();
  expect((await request(urls[0] ?? '')).statusCode).toBe(200);
  supervised.signal('SIGSTOP');
  await expect.poll(() => urls.length, { timeout: 20_000 }).toBe(2);
  await supervised.whenReady();
  expect(events.map(({ type }) => type)).toEqual(['started', 'ready', 'hung', 'exited', 'started', 'ready']);
  expect(events[3]).toMatchObject({ exit: { signal: 'SIGKILL' } });
  await supervised.stop();
});
