/** A queue for one reader: one side pushes items, the other iterates over them in order. It ends or fails once. */
export class AsyncQueue<Item> implements AsyncIterable<Item> {
  readonly #items: Item[] = [];
  #outcome?: { error?: unknown };
  #wake = () => {};

  /** True after `end`. Unread items may be left. */
  get ended(): boolean {
    return this.#outcome !== undefined;
  }

  push(item: Item): void {
    this.#items.push(item);
    this.#wake();
  }

  /** Ends the iteration after the items pushed so far; with an error, the iteration then throws it. */
  end(error?: unknown): void {
    this.#outcome ??= { error };
    this.#wake();
  }

  [Symbol.asyncIterator](): AsyncGenerator<Item, void, void> {
    return this.read(() => () => undefined);
  }

  /**
   * Iterates over the items. `begin` is called before the first one. It returns a function that is called once when the
   * iteration ends, also early, with the error that ended it. Errors: the errors of `begin`, and the error of `end`.
   */
  async *read(begin: () => Leave | Promise<Leave>): AsyncGenerator<Item, void, void> {
    const leave = await begin();
    let failure: unknown;
    try {
      for (;;) {
        while (this.#items.length > 0) yield this.#items.shift() as Item;
        if (this.#outcome) break;
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
      if (this.#outcome.error !== undefined) throw this.#outcome.error;
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      leave(failure);
    }
  }
}

/** Called at the end of an iteration, with the error that ended it. */
type Leave = (failure?: unknown) => void;

/**
 * Runs work that reports events to a callback, and iterates over the events. The work starts with the iteration. Its
 * signal is aborted when the caller's signal is, and when the caller ends the iteration early. Errors: the errors of
 * the work.
 */
export function eventsOf<Event>(
  work: (onEvent: (event: Event) => void, signal: AbortSignal) => Promise<unknown>,
  signal?: AbortSignal,
): AsyncGenerator<Event, void, void> {
  const events = new AsyncQueue<Event>();
  return events.read(() => {
    const stop = new AbortController();
    // AbortSignal.any takes ten times as long.
    const pass = () => stop.abort(signal?.reason);
    if (signal?.aborted) pass();
    signal?.addEventListener('abort', pass, { once: true });
    work((event) => events.push(event), stop.signal).then(
      () => events.end(),
      (error: unknown) => events.end(error),
    );
    return () => {
      signal?.removeEventListener('abort', pass);
      if (!events.ended) stop.abort();
    };
  });
}
