import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { asClient } from '#platform/foundation';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { afterProcessorTime, TimedWorker } from './timed-worker.js';

/** Computes for ever for `spin`; answers anything else. */
const program = `
const { parentPort } = require('node:worker_threads');
const say = (message) => parentPort.postMessage(message);
parentPort.on('message', ({ type, id, payload }) => {
  if (type === 'close') process.exit(0);
  if (type !== 'call') return;
  if (payload === 'spin') for (;;);
  say({ type: 'calls', messages: [{ type: 'result', id, value: payload }] });
});
say({ type: 'ready' });
`;

describe('TimedWorker', () => {
  it('answers a client while the jobs of another one take too long', async () => {
    const entry = path.join(await mkdtemp(path.join(tmpdir(), 'timed-')), 'timed.cjs');
    await writeFile(entry, program);
    const worker = new TimedWorker<string, string>(() => entry, 1_000);
    const tooLong = () => new Error('too long');
    const order: string[] = [];
    const ofBob = ['b1', 'b2'].map((name) =>
      asClient('bob', () => worker.run('spin', tooLong).catch(() => order.push(name))),
    );
    const ofAlice = asClient('alice', () => worker.run('small', tooLong).then((value) => order.push(value)));
    await Promise.all([...ofBob, ofAlice]);
    expect(order).toEqual(['small', 'b1', 'b2']);
    await worker.close();
  });
});

describe('afterProcessorTime', () => {
  let usedMs = 0;
  const callback = vi.fn<() => void>();
  const watch = () => afterProcessorTime(1000, callback, () => usedMs);
  beforeEach(() => {
    vi.useFakeTimers();
    callback.mockReset();
    usedMs = 500;
  });
  afterEach(() => vi.useRealTimers());

  it('calls back after the limit where the process computes all the time', () => {
    watch();
    usedMs += 1000;
    vi.advanceTimersByTime(999);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(callback).toHaveBeenCalledOnce();
  });

  it('waits longer where the process gets little processor time', () => {
    watch();
    usedMs += 100;
    vi.advanceTimersByTime(1000);
    usedMs += 800;
    vi.advanceTimersByTime(900);
    expect(callback).not.toHaveBeenCalled();
    usedMs += 100;
    vi.advanceTimersByTime(100);
    expect(callback).toHaveBeenCalledOnce();
  });

  it('does not wait longer than twelve times the limit', () => {
    watch();
    vi.advanceTimersByTime(11_999);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(callback).toHaveBeenCalledOnce();
  });

  it('ends', () => {
    const stop = watch();
    stop();
    vi.advanceTimersByTime(20_000);
    expect(callback).not.toHaveBeenCalled();
  });
});
