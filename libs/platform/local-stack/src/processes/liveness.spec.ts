import { expect, it } from 'vitest';
import { wakeupsOf } from './processor-time.js';
import { watchLiveness } from './readiness.js';

/** Watches a child whose counter has these values at each look, until they end; returns the number of probes. */
async function probesFor(turns: readonly (number | undefined)[]): Promise<number> {
  const over = new AbortController();
  const left = [...turns];
  let probes = 0;
  const hung = await watchLiveness(
    {
      intervalMs: 1,
      misses: 3,
      turns: () => {
        if (left.length === 1) over.abort();
        return left.shift();
      },
      probe: () => {
        probes += 1;
        return Promise.resolve();
      },
    },
    over.signal,
  );
  expect(hung).toBe(false);
  return probes;
}

it('does not probe a child whose event loop turns', async () => {
  expect(await probesFor([1, 2, 3, 5, 8])).toBe(0);
});

it('probes a child whose event loop stands still, or cannot be seen', async () => {
  expect(await probesFor([1, 1, 1, 2, 2])).toBe(3);
  expect(await probesFor([undefined, undefined, undefined])).toBe(2);
});

it.runIf(process.platform === 'linux')('counts the turns of a process', async () => {
  const before = wakeupsOf(process.pid)!;
  await expect.poll(() => wakeupsOf(process.pid)).toBeGreaterThan(before);
  expect(wakeupsOf(undefined)).toBeUndefined();
});
