import { expect, it } from 'vitest';
import { waitForLine } from './readiness.js';
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
