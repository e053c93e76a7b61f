import type { AbortScope } from './abort-scope.js';

/** A promise that is settled from outside; an unobserved rejection is not reported as unhandled. */
export class Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve: (value: Value) => void = () => {};
  reject: (error: Error) => void = () => {};

  constructor() {
    this.promise = new Promise<Value>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.promise.catch(() => {});
  }
}

/** Maximum delay of setTimeout; a longer one fires at once. */
const maxDelayMs = 2 ** 31 - 1;

/** Runs the action after a delay of at most 24.8 days; the returned function stops the timer. */
export function startTimer(delayMs: number, action: () => void): () => void {
  const timer = setTimeout(action, Math.min(Math.max(delayMs, 0), maxDelayMs));
  return () => clearTimeout(timer);
}

/** Waits; rejects with the scope's reason if it is aborted. Timer and listener are always removed. */
export async function sleep(delayMs: number, scope: AbortScope): Promise<void> {
  const elapsed = new Deferred<void>();
  const stop = startTimer(delayMs, () => elapsed.resolve());
  await untilAborted(elapsed.promise, scope).finally(stop);
}

/**
 * Returns the promise's outcome, or rejects with the scope's reason when it is aborted. A later value goes to
 * `discard`; a later error is dropped.
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
