/**
 * What an AbortController does, for the engine's own use: a run has two for each node, most of which nobody outside ever
 * looks at, and a signal costs more than the rest of a node's bookkeeping together. A real one is made when a runner
 * asks for it.
 */
export class AbortScope {
  private readonly listeners = new Set<() => void>();
  private controller?: AbortController;
  private cause?: Error;

  get aborted(): boolean {
    return this.cause !== undefined;
  }

  /** Why it was aborted; undefined before. */
  get reason(): Error | undefined {
    return this.cause;
  }

  /** For those outside; the same one each time. */
  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      if (this.cause) this.controller.abort(this.cause);
    }
    return this.controller.signal;
  }

  /** Only the first reason counts. */
  abort(reason: Error): void {
    if (this.cause) return;
    this.cause = reason;
    this.controller?.abort(reason);
    const listeners = [...this.listeners];
    this.listeners.clear();
    for (const listener of listeners) listener();
  }

  /** Calls the listener once, when it is aborted; never, where that has happened already. */
  onAbort(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** Forgets a listener. */
  off(listener: () => void): void {
    this.listeners.delete(listener);
  }
}
