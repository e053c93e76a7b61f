import { currentClient } from './fairness/client-context.js';
import { ClientShares } from './fairness/client-shares.js';
import { noteWork } from './fairness/client-work.js';

/** A work item with its (estimated) size in tokens. */
export interface QueuedItem<Value> {
  readonly tokens: number;
  readonly value: Value;
}

/** Items of a request that wait. */
interface QueuedRequest<Value> {
  readonly client: string;
  items: readonly QueuedItem<Value>[];
}

/** Clients that can fill the queue at the same time. */
const fullShares = 4;

/**
 * Queues the work of several requests and returns batches of items of similar size. Clients take turns by the tokens
 * that they got, and the requests of a client take turns, so that a small request does not wait for large ones. Each
 * batch starts with the oldest item of the next request, and is filled with the items of any request that are closest in
 * size.
 */
export class TokenBudgetQueue<Value> {
  /** By request; the next request of each client comes first. */
  private readonly requests = new Map<object, QueuedRequest<Value>>();
  private readonly shares = new ClientShares();
  private items = 0;
  private tokens = 0;

  /** @param capacity Maximum number of queued items of one client. */
  constructor(private readonly capacity: number) {}

  /** Number of queued items. */
  get length(): number {
    return this.items;
  }

  /** Tokens of the queued items. */
  get waitingTokens(): number {
    return this.tokens;
  }

  /** Adds the items of a request; returns false if other requests of its client, or of all clients, fill the queue. */
  push(request: object, items: readonly QueuedItem<Value>[], client = currentClient()): boolean {
    // A request larger than the whole queue is accepted if the client has none.
    const own = this.countOf(client);
    if (own > 0 && own + items.length > this.capacity) return false;
    if (this.items > 0 && this.items + items.length > this.capacity * fullShares) return false;
    if (items.length === 0) return true;
    this.requests.set(request, { client, items: [...items] });
    this.items += items.length;
    this.tokens += sum(items);
    return true;
  }

  /** Removes and returns the next batch of at most `budget` tokens; at least one item if there is any. */
  take(budget: number): Value[] {
    const turn = this.nextRequest();
    if (!turn) return [];
    const [request, own] = turn;
    const seed = own.items[0]!;
    this.requests.delete(request);
    this.requests.set(request, own);
    const chosen = new Set([seed]);
    let left = budget - seed.tokens;
    for (const item of this.byDistanceFrom(seed)) {
      if (item.tokens > left) continue;
      chosen.add(item);
      left -= item.tokens;
    }
    this.discard(chosen);
    return [...chosen].map((item) => item.value);
  }

  /** Removes the queued items of a request. */
  remove(request: object): void {
    const own = this.requests.get(request);
    if (!own) return;
    this.requests.delete(request);
    this.items -= own.items.length;
    this.tokens -= sum(own.items);
  }

  private countOf(client: string): number {
    const own = [...this.requests.values()].filter((request) => request.client === client);
    return own.reduce((count, { items }) => count + items.length, 0);
  }

  private nextRequest(): [object, QueuedRequest<Value>] | undefined {
    const requests = [...this.requests];
    const next = this.shares.next(new Set(requests.map(([, { client }]) => client)));
    return requests.find(([, { client }]) => client === next);
  }

  private byDistanceFrom(seed: QueuedItem<Value>): QueuedItem<Value>[] {
    const all = [...this.requests.values()].flatMap(({ items }) => items);
    const others = all.filter((item) => item !== seed);
    return others.sort((a, b) => Math.abs(a.tokens - seed.tokens) - Math.abs(b.tokens - seed.tokens));
  }

  private discard(taken: ReadonlySet<QueuedItem<Value>>): void {
    for (const [request, own] of this.requests) {
      const rest = own.items.filter((item) => !taken.has(item));
      const gone = own.items.length - rest.length;
      if (gone === 0) continue;
      const tokens = sum(own.items) - sum(rest);
      this.items -= gone;
      this.tokens -= tokens;
      this.shares.charge(own.client, tokens);
      noteWork('tokens', own.client, tokens);
      if (rest.length === 0) this.requests.delete(request);
      else own.items = rest;
    }
  }
}

function sum(items: readonly QueuedItem<unknown>[]): number {
  return items.reduce((total, item) => total + item.tokens, 0);
}
