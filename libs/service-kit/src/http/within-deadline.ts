import { MegaNestError } from '#contracts';
import type { HttpCall } from './http-call.js';

/**
 * Ends the work when the client goes away or the request's time is up, which each item puts off. Errors: deadline_exceeded
 * for the latter.
 */
export async function* withinDeadline<Item>(
  { signal, deadline, patience }: Pick<HttpCall, 'signal' | 'deadline' | 'patience'>,
  work: (signal: AbortSignal) => AsyncIterable<Item>,
): AsyncGenerator<Item, void, void> {
  const late = new AbortController();
  const end = () => late.abort();
  const timer = patience ? undefined : setTimeout(end, Math.max(0, deadline - Date.now()));
  const stopWatch = patience?.watch(end);
  try {
    for await (const item of work(AbortSignal.any([signal, late.signal]))) {
      patience?.renew();
      yield item;
    }
  } catch (error) {
    if (late.signal.aborted && !signal.aborted)
      throw new MegaNestError('deadline_exceeded', { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
    stopWatch?.();
  }
}
