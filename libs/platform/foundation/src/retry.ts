import { setTimeout as wait } from 'node:timers/promises';

/** When work is repeated, and how long it waits before. */
export interface RetryOptions {
  /** Whether another attempt may succeed. `attempt`: the number of the failed attempt, from 1. */
  readonly isRetryable: (error: unknown, attempt: number) => boolean;
  /** The pause before the second attempt, in milliseconds. Each further pause is twice as long. */
  readonly firstMs: number;
  /** The longest pause, in milliseconds. Default: `firstMs`, i.e. all pauses are equal. */
  readonly maxMs?: number;
  /** No attempt starts after this time, in milliseconds of the epoch. Default: attempts have no end. */
  readonly until?: number;
  /** Ends a pause; its reason is thrown then. */
  readonly signal?: AbortSignal | undefined;
  /** Waits in place of a timer; it may reject. */
  readonly sleep?: (milliseconds: number) => Promise<void>;
}

/**
 * Repeats `work` while it fails and another attempt may succeed. A pause is at least as long as the `retryAfter` of the
 * error (seconds); otherwise its length is random, from one half to the whole, so that callers do not return all at once.
 * Returns the result of the first success. Errors: that of the last attempt, the reason of the signal.
 * @example
 * const isRetryable = (error: unknown) => error instanceof Error && error.message === 'away';
 * await retry({ isRetryable, firstMs: 100, maxMs: 5_000, until: Date.now() + 20_000 }, () => fetchRows());
 */
export async function retry<Result>(
  options: RetryOptions,
  work: (attempt: number) => Promise<Result>,
): Promise<Result> {
  const { isRetryable, until = Infinity, signal, sleep = (ms) => pause(ms, signal) } = options;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      if (!isRetryable(error, attempt)) throw error;
      const pauseMs = Math.max(backOffMs(options, attempt), retryAfterMs(error));
      if (Date.now() + pauseMs > until) throw error;
      await sleep(pauseMs);
    }
  }
}

function backOffMs({ firstMs, maxMs = firstMs }: RetryOptions, attempt: number): number {
  return Math.min(maxMs, firstMs * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
}

/** What the failed service asks for. */
function retryAfterMs(error: unknown): number {
  const { retryAfter } = (error ?? {}) as { retryAfter?: unknown };
  return typeof retryAfter === 'number' ? retryAfter * 1_000 : 0;
}

async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await wait(milliseconds, undefined, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
