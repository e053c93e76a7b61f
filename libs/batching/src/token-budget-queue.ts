/** A piece of work with its (estimated) size in tokens. */
export interface QueuedItem<Value> {
  readonly tokens: number;
  readonly value: Value;
}

/** Thrown by `push` when the queue is full; the owner turns it into its own overload error. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

/**
 * Work of several requests, taken in batches of like size. Requests take turns, so that a small one is not stuck
 * behind a large one; each turn starts with a request's oldest item and is filled up with the items of any request
 * that are closest in size. `remove` forgets a request that nobody waits for any more.
 */
export class TokenBudgetQueue<Value> {
  /** Items by request, the request whose turn is next first. */
  private readonly requests = new Map<object, QueuedItem<Value>[]>();
  private items = 0;
  private tokens = 0;

  constructor(private readonly capacity: number) {}

  /** Items that wait. */
  get length(): number {
    return this.items;
  }

  /** Their tokens. */
  get waitingTokens(): number {
    return this.tokens;
  }

  /** Adds a request's items. Throws QueueFullError when others already fill the queue. */
  push(request: object, items: readonly QueuedItem<Value>[]): void {
    // A request larger than the whole queue must still be possible, alone.
    if (this.items > 0 && this.items + items.length > this.capacity) throw new QueueFullError();
    if (items.length === 0) return;
    this.requests.set(request, [...items]);
    this.items += items.length;
    this.tokens += sum(items);
  }

  /** Takes the next batch, at least one item where there is one, of at most `budget` tokens. */
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

  /** Forgets the waiting items of a request. */
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
