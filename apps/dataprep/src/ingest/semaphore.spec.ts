import { describe, expect, it } from 'vitest';
import { Semaphore } from './semaphore.js';

const never = new AbortController().signal;

function makeGate() {
  let resolve = () => {};
  const promise = new Promise<void>((open) => (resolve = open));
  return { promise, resolve: () => resolve() };
}

/** Resolves when everything that can run now has run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('Semaphore', () => {
  it('lets as many run as it has permits, the others in their order', async () => {
    const semaphore = new Semaphore(2);
    const gates = [0, 1, 2, 3].map(makeGate);
    const started: number[] = [];
    const runs = gates.map(({ promise }, index) =>
      semaphore.run(() => {
        started.push(index);
        return promise;
      }, never),
    );
    await settled();
    expect(started).toEqual([0, 1]);
    gates[1]?.resolve();
    await settled();
    expect(started).toEqual([0, 1, 2]);
    for (const gate of gates) gate.resolve();
    await Promise.all(runs);
    expect(started).toEqual([0, 1, 2, 3]);
  });

  it('hands the permit on when work fails and forgets those who gave up waiting', async () => {
    const semaphore = new Semaphore(1);
    const abort = new AbortController();
    const failing = semaphore.run(() => Promise.reject(new Error('broken')), never);
    const leaving = semaphore.run(() => Promise.resolve('never'), abort.signal);
    const staying = semaphore.run(() => Promise.resolve('ran'), never);
    abort.abort();
    await expect(failing).rejects.toThrow('broken');
    await expect(leaving).rejects.toMatchObject({ code: 'cancelled' });
    expect(await staying).toBe('ran');
  });
});
