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

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, void> {
    for (;;) {
      while (this.#items.length > 0) yield this.#items.shift() as Item;
      if (this.#outcome) break;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    if (this.#outcome.error !== undefined) throw this.#outcome.error;
  }
}

/**
 * Runs work that reports events to a callback, and yields the events. The work's signal is aborted when the
 * caller's signal is, and when the caller ends the iteration early. Errors: those of the work.
 */
export async function* eventsOf<Event>(
  work: (onEvent: (event: Event) => void, signal: AbortSignal) => Promise<unknown>,
  signal?: AbortSignal,
): AsyncGenerator<Event, void, void> {
  const left = new AbortController();
  const events = new AsyncQueue<Event>();
  work((event) => events.push(event), signal ? AbortSignal.any([signal, left.signal]) : left.signal).then(
    () => events.end(),
    (error: unknown) => events.end(error),
  );
  try {
    yield* events;
  } finally {
    if (!events.ended) left.abort();
  }
}
