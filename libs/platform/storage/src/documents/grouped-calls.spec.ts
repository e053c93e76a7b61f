import { MegaNestError } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { GroupedCalls } from './grouped-calls.js';

const busy = new MegaNestError('service_unavailable', { service: 'postgres', detail: 'away', retryAfter: 1 });

describe('GroupedCalls', () => {
  const groups: number[][] = [];

  /** Doubles numbers, three at a time, and fails where a group has a negative one. */
  function open(): GroupedCalls<number, number> {
    groups.length = 0;
    return new GroupedCalls({
      maxRunning: 1,
      joins: () => {
        let count = 0;
        return () => (count += 1) <= 3;
      },
      work: (items) => {
        groups.push([...items]);
        if (items.includes(-1)) return Promise.reject(new Error('no negative numbers'));
        if (items.includes(-2)) return Promise.reject(busy);
        return Promise.resolve(items.map((item) => (item === 0 ? new MegaNestError('cancelled') : item * 2)));
      },
    });
  }

  it('does what comes together in groups, in order', async () => {
    const calls = open();
    expect(await Promise.all([1, 2, 3, 4, 5].map((item) => calls.call(item)))).toEqual([2, 4, 6, 8, 10]);
    expect(groups).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
  });

  it('fails one alone whose result is an error', async () => {
    const calls = open();
    const [zero, one] = [calls.call(0), calls.call(1)];
    await expect(zero).rejects.toMatchObject({ code: 'cancelled' });
    expect(await one).toBe(2);
  });

  it('tries each alone where a group fails, but not where the database is away', async () => {
    const calls = open();
    const together = await Promise.allSettled([1, -1, 2].map((item) => calls.call(item)));
    expect(together.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(groups).toEqual([[1, -1, 2], [1], [-1], [2]]);
    groups.length = 0;
    const away = await Promise.allSettled([1, -2].map((item) => calls.call(item)));
    expect(away).toEqual([1, -2].map(() => ({ status: 'rejected', reason: busy })));
    expect(groups).toEqual([[1, -2]]);
  });
});
