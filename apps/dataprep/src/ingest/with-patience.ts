import { setTimeout as wait } from 'node:timers/promises';
import { MegaNestError } from '#contracts';

/** Time for which calls to an unavailable service are retried. */
const usualComeBackMs = 20_000;
/** The same for the object store: its recovery may need an operator or a probe. */
export const storeComeBackMs = 60_000;
const backOffMs = { first: 200, most: 5_000 };

/**
 * Calls a service. Retries until the deadline while the service is overloaded, and until `comeBackMs` while it is
 * unavailable. Errors: the errors of the service, cancelled.
 */
export async function withPatience<Result>(
  {
    signal,
    deadline = Infinity,
    comeBackMs = usualComeBackMs,
  }: { signal: AbortSignal; deadline?: number; comeBackMs?: number },
  ask: () => Promise<Result>,
): Promise<Result> {
  const startedAt = Date.now();
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      const delay = delayBeforeRetry(error, { attempt, comeBackMs, startedAt });
      if (delay === undefined || Date.now() + delay > deadline) throw error;
      await wait(delay, undefined, { signal }).catch((cause: unknown) => {
        throw new MegaNestError('cancelled', { cause });
      });
    }
  }
}

/** Milliseconds before the next attempt; undefined for an error that a retry cannot mend. */
function delayBeforeRetry(
  error: unknown,
  { attempt, comeBackMs, startedAt }: { attempt: number; comeBackMs: number; startedAt: number },
): number | undefined {
  if (!(error instanceof MegaNestError)) return undefined;
  const isAway = error.code === 'service_unavailable' && Date.now() - startedAt < comeBackMs;
  if (!isAway && error.code !== 'overloaded') return undefined;
  const backOff = Math.min(backOffMs.most, backOffMs.first * 2 ** attempt) * (0.75 + Math.random() / 2);
  return Math.max(backOff, (error.retryAfter ?? 0) * 1_000);
}
