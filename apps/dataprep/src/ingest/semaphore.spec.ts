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

/** Tasks that end when the test lets them. */
function tasks() {
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const task = (name: string) => async () => {
    running.push(name);
    await new Promise<void>((resolve) => ends.set(name, resolve));
    running.splice(running.indexOf(name), 1);
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { running, task, end };
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

  it('runs tasks together, and one alone after those before it and before those after it', async () => {
    const semaphore = new Semaphore(4);
    const { running, task, end } = tasks();
    const all = [
      semaphore.run(task('a'), never),
      semaphore.run(task('b'), never),
      semaphore.runAlone(task('alone'), never),
      semaphore.run(task('c'), never),
    ];
    await new Promise(setImmediate);
    expect(running).toEqual(['a', 'b']);
    await end('a');
    expect(running).toEqual(['b']);
    await end('b');
    expect(running).toEqual(['alone']);
    await end('alone');
    expect(running).toEqual(['c']);
    await end('c');
    await Promise.all(all);
  });

  it('lets the others go on after a task that waited was cancelled, or failed', async () => {
    const semaphore = new Semaphore(4);
    const { running, task, end } = tasks();
    const abort = new AbortController();
    const first = semaphore.run(task('a'), never);
    const cancelled = semaphore.runAlone(task('alone'), abort.signal);
    const second = semaphore.run(task('b'), never);
    await new Promise(setImmediate);
    expect(running).toEqual(['a']);
    abort.abort();
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
    expect(running).toEqual(['a', 'b']);
    await end('a');
    await end('b');
    await Promise.all([first, second]);
    await expect(semaphore.runAlone(() => Promise.reject(new Error('broken')), never)).rejects.toThrow(
      'broken',
    );
    expect(await semaphore.runAlone(() => Promise.resolve('after'), never)).toBe('after');
  });
});
