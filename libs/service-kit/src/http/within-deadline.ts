import { MegaNestError } from '#contracts';
import type { HttpCall } from './http-call.js';

/** Ends the work when the client goes away or the request's time is up. Errors: deadline_exceeded for the latter. */
export async function* withinDeadline<Item>(
  { signal, deadline }: Pick<HttpCall, 'signal' | 'deadline'>,
  work: (signal: AbortSignal) => AsyncIterable<Item>,
): AsyncGenerator<Item, void, void> {
  const timeout = AbortSignal.timeout(Math.max(0, deadline - Date.now()));
  try {
    yield* work(AbortSignal.any([signal, timeout]));
  } catch (error) {
    if (timeout.aborted && !signal.aborted) throw new MegaNestError('deadline_exceeded', { cause: error });
    throw error;
  }
}
