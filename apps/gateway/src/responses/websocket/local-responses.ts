import type { StoredItem } from '#responses';

/** What was said up to and including a response that is kept nowhere else. */
interface LocalResponse {
  items: readonly StoredItem[];
  /** Characters of all of them, as JSON. */
  size: number;
}

export interface LocalBounds {
  /** Most responses kept. */
  maxCount: number;
  /** Most characters of their contexts, as JSON; what several share counts for each. */
  maxSize: number;
}

/**
 * Responses with `store: false` that one connection may continue: the memory goes with the connection. The ones that
 * were not continued for the longest time go first where the bounds are reached; a context that exceeds them alone is not
 * kept at all.
 */
export class LocalResponses {
  readonly #responses = new Map<string, LocalResponse>();
  #size = 0;

  constructor(private readonly bounds: LocalBounds) {}

  /** Keeps the context that a response leaves, oldest item first. */
  add(id: string, items: readonly StoredItem[]): void {
    this.forget(id);
    const size = JSON.stringify(items).length;
    this.#responses.set(id, { items, size });
    this.#size += size;
    this.#evict();
  }

  /** The context that a response leaves, oldest item first; undefined where it is not known (any more). */
  context(id: string): readonly StoredItem[] | undefined {
    const found = this.#responses.get(id);
    if (!found) return undefined;
    // Read last, so evicted last.
    this.#responses.delete(id);
    this.#responses.set(id, found);
    return found.items;
  }

  /** An item of any response that is kept. */
  item(id: string): StoredItem | undefined {
    for (const { items } of this.#responses.values()) {
      const item = items.find((candidate) => candidate.id === id);
      if (item) return item;
    }
    return undefined;
  }

  forget(id: string): void {
    this.#size -= this.#responses.get(id)?.size ?? 0;
    this.#responses.delete(id);
  }

  #evict(): void {
    const { maxCount, maxSize } = this.bounds;
    for (const id of this.#responses.keys()) {
      if (this.#responses.size <= maxCount && this.#size <= maxSize) return;
      this.forget(id);
    }
  }
}
