import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WorkerChannel } from './worker-channel.js';

/**
 * Doubles numbers; `die` throws outside any call, `spin` never returns, `hang` waits for its cancel, anything else is
 * an error.
 */
const worker = `
import { parentPort, workerData } from 'node:worker_threads';
const send = (message) => parentPort.postMessage(message);
const say = (...messages) => send({ type: 'calls', messages });
const hanging = new Set();
parentPort.on('message', ({ type, id, payload }) => {
  if (type === 'close') { parentPort.close(); return; }
  if (type === 'cancel') { if (hanging.delete(id)) say({ type: 'result', id, value: 'cancelled' }); return; }
  if (payload === 'die') setImmediate(() => { throw new Error('gone'); });
  else if (payload === 'spin') for (;;);
  else if (payload === 'hang') { hanging.add(id); say({ type: 'event', id, value: 'hanging' }); }
  else if (typeof payload === 'number') say({ type: 'result', id, value: 2 * payload });
  else say({ type: 'error', id, error: { kind: 'other', message: 'not a number' } });
});
setInterval(() => Atomics.add(workerData.pulse, 0, 1), 10).unref();
if (workerData.settings === 'unusable') send({ type: 'unusable', error: { kind: 'load', message: 'no model' } });
else send({ type: 'ready', value: 'up' });
`;

describe('WorkerChannel', () => {
  let folder: string;
  let entry: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'worker-channel-'));
    entry = path.join(folder, 'worker.mjs');
    await writeFile(entry, worker);
  });
  afterAll(() => rm(folder, { recursive: true }));

  const open = (data?: string, hangLimitMs?: number) =>
    new WorkerChannel<string, unknown, string, unknown>(entry, data, hangLimitMs);

  it('answers calls, with events and errors, and passes cancels on', async () => {
    const channel = open();
    expect(await channel.start()).toBe('up');
    expect(await Promise.all([channel.call(1), channel.call(2)])).toEqual([2, 4]);
    await expect(channel.call('x')).rejects.toMatchObject({
      code: 'internal_error',
      message: /not a number/,
    });
    const cancelling = new AbortController();
    const onEvent = () => cancelling.abort();
    expect(await channel.call('hang', { signal: cancelling.signal, onEvent })).toBe('cancelled');
    await channel.close();
  });

  it('rejects the calls of a thread that dies, and starts it again', async () => {
    const channel = open();
    const hanging = channel.call('hang');
    const dying = channel.call('die');
    await expect(hanging).rejects.toMatchObject({
      code: 'service_unavailable',
      message: /gone/,
      retryAfter: 1,
    });
    await expect(dying).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await channel.call(3)).toBe(6);
    await channel.close();
  });

  it('ends a thread that does not move any more, and starts it again', async () => {
    const channel = open(undefined, 500);
    const hanging = channel.call('hang');
    const spinning = channel.call('spin');
    await expect(hanging).rejects.toMatchObject({
      code: 'service_unavailable',
      message: /stood still for 0\.5 s/,
      final: true,
      retryAfter: 1,
    });
    await expect(spinning).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await channel.call(3)).toBe(6);
    await channel.close();
  });

  it('reports why a model cannot be used', async () => {
    const channel = open('unusable');
    await expect(channel.start()).rejects.toMatchObject({ name: 'ModelLoadError', message: 'no model' });
    await channel.close();
  });

  it('refuses calls once closed', async () => {
    const channel = open();
    await channel.start();
    const hanging = channel.call('hang').catch((error: unknown) => error);
    await channel.call(1);
    await channel.close();
    expect(await hanging).toMatchObject({ code: 'service_unavailable' });
    await expect(channel.call(1)).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});
