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
