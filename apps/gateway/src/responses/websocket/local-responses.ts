import type { StoredItem } from '#api/responses';

/** The conversation up to and including a response that is not stored. */
interface LocalResponse {
  items: readonly StoredItem[];
  /** Characters of all items, as JSON. */
  size: number;
}

export interface LocalBounds {
  /** Limit for the number of responses. */
  maxCount: number;
  /** Limit for the characters of their contexts, as JSON. An item in several contexts counts for each. */
  maxSize: number;
}

/**
 * Responses with `store: false` that one connection may continue. They are forgotten when the connection ends. Where a
 * limit is reached, the least recently used responses are evicted first. A context that exceeds the limit alone is not
 * kept.
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

  /** The context that a response leaves, oldest item first; undefined for an unknown or evicted response. */
  context(id: string): readonly StoredItem[] | undefined {
    const found = this.#responses.get(id);
    if (!found) return undefined;
    // The most recently used response is evicted last.
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
