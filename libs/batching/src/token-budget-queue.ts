/** A work item with its (estimated) size in tokens. */
export interface QueuedItem<Value> {
  readonly tokens: number;
  readonly value: Value;
}

/**
 * Queues the work of several requests and returns batches of items of similar size. Requests take turns, so that a
 * small request does not wait for a large one. Each batch starts with the oldest item of the next request, and is
 * filled with the items of any request that are closest in size.
 */
export class TokenBudgetQueue<Value> {
  /** Items by request; the next request comes first. */
  private readonly requests = new Map<object, QueuedItem<Value>[]>();
  private items = 0;
  private tokens = 0;

  constructor(private readonly capacity: number) {}

  /** Number of queued items. */
  get length(): number {
    return this.items;
  }

  /** Tokens of the queued items. */
  get waitingTokens(): number {
    return this.tokens;
  }

  /** Adds the items of a request; returns false if other requests fill the queue. */
  push(request: object, items: readonly QueuedItem<Value>[]): boolean {
    // A request larger than the whole queue is accepted if the queue is empty.
    if (this.items > 0 && this.items + items.length > this.capacity) return false;
    if (items.length === 0) return true;
    this.requests.set(request, [...items]);
    this.items += items.length;
    this.tokens += sum(items);
    return true;
  }

  /** Removes and returns the next batch of at most `budget` tokens; at least one item if there is any. */
  take(budget: number): Value[] {
    const turn = this.requests.entries().next();
    if (turn.done) return [];
    const [request, own] = turn.value;
    const seed = own[0]!;
    this.requests.delete(request);
    this.requests.set(request, own);
    const chosen = new Set([seed]);
    let left = budget - seed.tokens;
    for (const item of this.byDistanceFrom(seed)) {
      if (item.tokens > left) continue;
      chosen.add(item);
      left -= item.tokens;
    }
    this.discard((item) => chosen.has(item));
    return [...chosen].map((item) => item.value);
  }

  /** Removes the queued items of a request. */
  remove(request: object): void {
    const own = this.requests.get(request);
    if (!own) return;
    this.requests.delete(request);
    this.items -= own.length;
    this.tokens -= sum(own);
  }

  private byDistanceFrom(seed: QueuedItem<Value>): QueuedItem<Value>[] {
    const others = [...this.requests.values()].flat().filter((item) => item !== seed);
    return others.sort((a, b) => Math.abs(a.tokens - seed.tokens) - Math.abs(b.tokens - seed.tokens));
  }

  private discard(taken: (item: QueuedItem<Value>) => boolean): void {
    for (const [request, own] of this.requests) {
      const rest = own.filter((item) => !taken(item));
      const gone = own.length - rest.length;
      if (gone === 0) continue;
      this.items -= gone;
      this.tokens -= sum(own) - sum(rest);
      if (rest.length === 0) this.requests.delete(request);
      else this.requests.set(request, rest);
    }
  }
}

function sum(items: readonly QueuedItem<unknown>[]): number {
  return items.reduce((total, item) => total + item.tokens, 0);
}
