import { retry, type RetryOptions } from '#platform/foundation';
import type { BatchResult, StoredBatch } from '#platform/storage';
import type { OwnRequests } from './own-requests.js';

/** The pauses before a request that was refused for load is sent again. */
const pauses = { firstMs: 1_000, maxMs: 30_000 };
/** Attempts for a service that is away. A service that is busy is asked until the batch expires. */
const maxAttempts = 8;

/**
 * Sends a request of a batch, again where it was refused for load. `sleep` waits in place of a timer. Errors: the reason
 * of the signal.
 */
export async function sendPatiently(
  requests: Pick<OwnRequests, 'send'>,
  { batch, body, signal }: { batch: StoredBatch; body: object; signal: AbortSignal },
  timing: Pick<RetryOptions, 'sleep'> = {},
): Promise<BatchResult> {
  const until = batch.expiresAt.getTime();
  let last: BatchResult | undefined;
  try {
    return await retry({ ...pauses, ...timing, until, signal, isRetryable }, async () => {
      last = await requests.send(batch, body, signal);
      if (last.status === 429 || last.status === 503) throw new Busy(last.status === 429);
      return last;
    });
  } catch (error) {
    if (error instanceof Busy && last) return last;
    throw error;
  }
}

function isRetryable(error: unknown, attempt: number): boolean {
  return error instanceof Busy && (error.isOverload || attempt < maxAttempts);
}

/** A request that was refused for load, or for a service that is away. */
class Busy extends Error {
  constructor(readonly isOverload: boolean) {
    super('busy');
  }
}
