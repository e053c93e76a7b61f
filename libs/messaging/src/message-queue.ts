/** A single-consumer queue: messages are pushed as they come, and read as an async iterable. */
export class MessageQueue<Item> {
  readonly #items: Item[] = [];
  #wake: (() => void) | undefined;
  #ended = false;
  #error: Error | undefined;

  push(item: Item): void {
    this.#items.push(item);
    this.#wakeReader();
  }

  /** What was pushed before is still read; then the iteration ends, or throws the error. */
  end(error?: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#wakeReader();
  }

  async *read(): AsyncGenerator<Item, void, void> {
    for (;;) {
      while (this.#items.length > 0) yield this.#items.shift() as Item;
      if (this.#error) throw this.#error;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #wakeReader(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
