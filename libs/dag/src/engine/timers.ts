import type { AbortScope } from './abort-scope.js';
import { Deferred } from './deferred.js';

/** The longest delay that setTimeout takes; a longer one would fire at once. */
const longestDelayMs = 2 ** 31 - 1;

/** Runs the action after so many milliseconds (at most 24.8 days); the returned function stops the timer. */
export function startTimer(delayMs: number, action: () => void): () => void {
  const timer = setTimeout(action, Math.min(Math.max(delayMs, 0), longestDelayMs));
  return () => clearTimeout(timer);
}

/** Waits; rejects with the scope's reason when it is aborted. Leaves neither timer nor listener behind. */
export async function sleep(delayMs: number, scope: AbortScope): Promise<void> {
  const elapsed = new Deferred<void>();
  const stop = startTimer(delayMs, () => elapsed.resolve());
  await untilAborted(elapsed.promise, scope).finally(stop);
}

/**
 * The promise's outcome, or a rejection with the scope's reason as soon as that is aborted. What the promise gives
 * after that goes to `discard`; its late failure is dropped.
 */
export function untilAborted<Value>(
  promise: Promise<Value>,
  scope: AbortScope,
  discard: (late: Value) => void = () => {},
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      promise.then(discard, () => {});
      reject(scope.reason);
    };
    if (scope.aborted) {
      leave();
      return;
    }
    scope.onAbort(leave);
    const arrive = (): void => scope.off(leave);
    promise.then(resolve, reject).then(arrive, arrive);
  });
}
