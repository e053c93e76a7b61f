import { MegaNestError } from '#platform/contracts';

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** Rules for grouping calls. */
export interface Grouping<Item, Result> {
  /** Concurrent transactions; more would wait for each other's pages. */
  maxRunning: number;
  /** Begins a group; the returned function says whether an item may join it. */
  joins: () => (item: Item) => boolean;
  /**
   * Does the work of a group; returns results in the order of the items, with an error for an item that fails alone.
   */
  work: (items: readonly Item[]) => Promise<(Result | MegaNestError)[]>;
}

/** Groups calls that arrive together, or while others run: a round trip costs the same for many items as for one. */
export class GroupedCalls<Item, Result> {
  #waiting: Waiting<Item, Result>[] = [];
  #running = 0;
  #isScheduled = false;

  constructor(private readonly grouping: Grouping<Item, Result>) {}

  /** Errors: the errors of the work for this item. If a group fails, each of its items is tried alone. */
  call(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        this.#begin();
      });
    });
  }

  #begin(): void {
    while (this.#running < this.grouping.maxRunning && this.#waiting.length > 0) {
      const joins = this.grouping.joins();
      const together = this.#waiting.filter(({ item }) => joins(item));
      this.#waiting = this.#waiting.filter((waiting) => !together.includes(waiting));
      this.#running += 1;
      void this.#work(together).finally(() => {
        this.#running -= 1;
        this.#begin();
      });
    }
  }

  async #work(together: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.grouping.work(together.map(({ item }) => item));
      for (const [index, { resolve, reject }] of together.entries()) {
        const result = results[index] as Result | MegaNestError;
        if (result instanceof MegaNestError) reject(result);
        else resolve(result);
      }
    } catch (error) {
      const isAway = error instanceof MegaNestError && error.retryAfter !== undefined;
      if (together.length > 1 && !isAway) for (const each of together) await this.#work([each]);
      else for (const { reject } of together) reject(error);
    }
  }
}
