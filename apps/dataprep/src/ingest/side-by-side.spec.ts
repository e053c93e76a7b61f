import { describe, expect, it } from 'vitest';
import { sideBySide } from './side-by-side.js';

const nothing = new AbortController().signal;

async function collect<Step>(steps: AsyncIterable<Step>): Promise<Step[]> {
  const all: Step[] = [];
  for await (const step of steps) all.push(step);
  return all;
}

describe('sideBySide', () => {
  it('begins as many as it is wide, and the next when one has ended', async () => {
    const running = new Set<number>();
    let most = 0;
    const steps = sideBySide([1, 2, 3, 4, 5], { width: 2, signal: nothing }, async function* (item) {
      running.add(item);
      most = Math.max(most, running.size);
      for (const step of ['a', 'b']) {
        await Promise.resolve();
        yield `${item}${step}`;
      }
      running.delete(item);
    });
    const all = await collect(steps);
    expect(all).toHaveLength(10);
    for (const item of [1, 2, 3, 4, 5])
      expect(all.filter((step) => step.startsWith(String(item)))).toEqual([`${item}a`, `${item}b`]);
    expect(most).toBe(2);
  });

  it('lets every item listen to its signal, without a warning of a leak', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    const items = Array.from({ length: 20 }, (_unused, index) => index);
    const listening = new Set<number>();
    const steps = sideBySide(items, { width: 20, signal: nothing }, async function* (item, signal) {
      signal.addEventListener('abort', () => undefined);
      listening.add(item);
      while (listening.size < items.length) await Promise.resolve();
      yield item;
    });
    expect(await collect(steps)).toHaveLength(20);
    await new Promise(setImmediate);
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  it('lets others go on while one waits', async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const steps = sideBySide(['slow', 'quick'], { width: 2, signal: nothing }, async function* (item) {
      if (item === 'slow') await gate;
      else release();
      yield item;
    });
    expect(await collect(steps)).toEqual(['quick', 'slow']);
  });

  it.each(['a failure', 'a reader that leaves'])('stops the others after %s', async (reason) => {
    const stopped: number[] = [];
    const steps = sideBySide([1, 2, 3], { width: 2, signal: nothing }, async function* (item, signal) {
      try {
        yield item;
        if (item === 1 && reason === 'a failure') throw new Error('broken');
        await new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => resolve(), { once: true }),
        );
      } finally {
        stopped.push(item);
      }
    });
    const read = async () => {
      for await (const step of steps) if (reason !== 'a failure' && step === 2) break;
    };
    const error = await read().then(
      () => undefined,
      (thrown: Error) => thrown.message,
    );
    expect(error).toBe(reason === 'a failure' ? 'broken' : undefined);
    expect(new Set(stopped)).toEqual(new Set([1, 2]));
  });
});
