import { describe, expect, it } from 'vitest';
import { Drain } from './drain.js';

describe('Drain', () => {
  it('calls back at its beginning, and again once that work has ended', async () => {
    const drain = new Drain();
    const calls: string[] = [];
    let end = () => {};
    drain.onBegin(async () => {
      calls.push('begin');
      await new Promise<void>((resolve) => (end = resolve));
      calls.push('begun work ended');
    });
    drain.onIdle(async () => {
      await Promise.resolve();
      calls.push('idle');
    });
    const run = drain.run({ delayMs: 0, graceMs: 10_000 });
    expect(calls).toEqual(['begin']);
    end();
    await run;
    expect(calls).toEqual(['begin', 'begun work ended', 'idle']);
  });

  it('ends after the grace period, and says so to its listeners', async () => {
    const drain = new Drain();
    let signal: AbortSignal | undefined;
    drain.onBegin((over) => {
      signal = over;
      return new Promise(() => {});
    });
    await drain.run({ delayMs: 0, graceMs: 1 });
    expect(signal?.aborted).toBe(true);
  });
});
