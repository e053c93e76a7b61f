import { MegaNestError } from '#platform/contracts';
import { retry } from '#platform/foundation';

/** Time for which calls to an unavailable service are retried. */
const usualComeBackMs = 20_000;
/** The same for the object store: its recovery may need an operator or a probe. */
export const storeComeBackMs = 60_000;
const pauses = { firstMs: 250, maxMs: 6_000 };

/**
 * Calls a service. Retries until the deadline while the service is overloaded, and until `comeBackMs` while it is
 * unavailable. Errors: the errors of the service, cancelled.
 */
export async function withPatience<Result>(
  {
    signal,
    deadline,
    comeBackMs = usualComeBackMs,
  }: { signal: AbortSignal; deadline?: number; comeBackMs?: number },
  ask: () => Promise<Result>,
): Promise<Result> {
  const startedAt = Date.now();
  const isRetryable = (error: unknown) => {
    const { code } = error instanceof MegaNestError ? error : {};
    const isBack = Date.now() - startedAt >= comeBackMs;
    return code === 'overloaded' || (code === 'service_unavailable' && !isBack);
  };
  try {
    return await retry({ ...pauses, isRetryable, signal, until: deadline }, ask);
  } catch (error) {
    if (error === signal.reason && !(error instanceof MegaNestError))
      throw new MegaNestError('cancelled', { cause: error });
    throw error;
  }
}
