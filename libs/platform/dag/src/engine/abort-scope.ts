/**
 * A light AbortController for internal use. A run has two for each node, most of them are never observed from
 * outside, and a signal costs more than the rest of a node's bookkeeping together. A real AbortController is
 * created on demand.
 */
export class AbortScope {
  private readonly listeners = new Set<() => void>();
  private controller?: AbortController;
  private cause?: Error;

  get aborted(): boolean {
    return this.cause !== undefined;
  }

  /** The reason; undefined until aborted. */
  get reason(): Error | undefined {
    return this.cause;
  }

  /** The AbortSignal for runners; the same one each time. */
  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      if (this.cause) this.controller.abort(this.cause);
    }
    return this.controller.signal;
  }

  /** Aborts; only the first reason counts. */
  abort(reason: Error): void {
    if (this.cause) return;
    this.cause = reason;
    this.controller?.abort(reason);
    const listeners = [...this.listeners];
    this.listeners.clear();
    for (const listener of listeners) listener();
  }

  /** Calls the listener once on abort; never if that has happened already. */
  onAbort(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** Removes a listener. */
  off(listener: () => void): void {
    this.listeners.delete(listener);
  }
}

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
