import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { retry, type RetryOptions } from './retry.js';

/** Work that fails so many times, and the pauses before its attempts. */
async function failing(times: number, options: Partial<RetryOptions>, error = new Error('away')) {
  const pauses: number[] = [];
  let attempts = 0;
  const result = await retry(
    {
      isRetryable: () => true,
      firstMs: 100,
      sleep: (milliseconds) => Promise.resolve(void pauses.push(milliseconds)),
      ...options,
    },
    (attempt) => {
      attempts = attempt;
      return attempt <= times ? Promise.reject(error) : Promise.resolve('done');
    },
  ).catch((failure: unknown) => failure);
  return { result, attempts, pauses };
}

describe('retry', () => {
  beforeEach(() => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('returns the first success', async () => {
    expect(await failing(0, {})).toEqual({ result: 'done', attempts: 1, pauses: [] });
  });

  it('doubles the pauses up to the longest one', async () => {
    const { pauses } = await failing(5, { maxMs: 500 });
    expect(pauses).toEqual([100, 200, 400, 500, 500]);
  });

  it('has equal pauses without a longest one, of which one half is random', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    expect((await failing(3, {})).pauses).toEqual([50, 50, 50]);
  });

  it('waits as long as the error asks for', async () => {
    const error = Object.assign(new Error('overloaded'), { retryAfter: 3 });
    expect((await failing(1, {}, error)).pauses).toEqual([3_000]);
  });

  it('throws an error at once that cannot pass', async () => {
    const isRetryable = (_error: unknown, attempt: number) => attempt < 3;
    const { result, attempts } = await failing(9, { isRetryable });
    expect(result).toEqual(new Error('away'));
    expect(attempts).toBe(3);
  });

  it('starts no attempt after its end', async () => {
    vi.useFakeTimers({ now: 1_000 });
    const { attempts, pauses } = await failing(9, { until: 1_350, maxMs: 1_000 });
    expect({ attempts, pauses }).toEqual({ attempts: 3, pauses: [100, 200] });
  });

  it('throws the reason of its signal during a pause', async () => {
    const left = new AbortController();
    const running = failing(1, { signal: left.signal, sleep: undefined, firstMs: 600_000 });
    left.abort(new Error('the client left'));
    expect((await running).result).toEqual(new Error('the client left'));
  });
});
