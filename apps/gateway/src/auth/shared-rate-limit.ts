import type { RateCount } from '#platform/storage';

/** Counts a request in the database that all gateways share. */
type Count = (key: string, windowMs: number) => Promise<RateCount>;

type Answer = (error: Error | null, result?: { current: number; ttl: number }) => void;

interface Window {
  count: number;
  endsAt: number;
}

/** Timeout of the database for a count. */
const patienceMs = 500;
/** Time until the database is tried again after a failure. */
const awayMs = 5_000;
/** Clients whose windows this process remembers. */
const maxClients = 10_000;

/**
 * Counts requests for rate limits in the database that all gateways share. While the database is unavailable, each
 * gateway counts its own requests. A client beyond its limit is refused without a query until its window ends.
 */
export class SharedRateLimit {
  readonly #windows = new Map<string, Window>();
  #awayUntil = 0;

  constructor(
    private readonly countShared: Count,
    private readonly now: () => number = Date.now,
  ) {}

  /** The store class for `@fastify/rate-limit`, which creates an instance for itself and for each route. */
  get store() {
    const count = (key: string, windowMs: number, max: number) => this.count(key, windowMs, max);
    return class Store {
      incr(key: string, answer: Answer, windowMs: number, max: number): void {
        count(key, windowMs, max).then(
          (result) => answer(null, result),
          (error: unknown) => answer(error as Error),
        );
      }

      child(): Store {
        return this;
      }
    };
  }

  async count(key: string, windowMs: number, max: number): Promise<{ current: number; ttl: number }> {
    const known = this.#windows.get(key);
    const isExceeded = known && known.count > max && known.endsAt > this.now();
    const window = isExceeded ? { ...known, count: known.count + 1 } : await this.#countOne(key, windowMs);
    this.#remember(key, window);
    return { current: window.count, ttl: Math.max(0, window.endsAt - this.now()) };
  }

  async #countOne(key: string, windowMs: number): Promise<Window> {
    const shared = this.now() < this.#awayUntil ? undefined : await this.#askDatabase(key, windowMs);
    if (shared) return { count: shared.count, endsAt: this.now() + shared.leftMs };
    const known = this.#windows.get(key);
    if (known && known.endsAt > this.now()) return { ...known, count: known.count + 1 };
    return { count: 1, endsAt: this.now() + windowMs };
  }

  async #askDatabase(key: string, windowMs: number): Promise<RateCount | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), patienceMs);
    });
    const found = await Promise.race([this.countShared(key, windowMs).catch(() => undefined), late]);
    clearTimeout(timer);
    if (!found) this.#awayUntil = this.now() + awayMs;
    return found;
  }

  #remember(key: string, window: Window): void {
    this.#windows.delete(key);
    this.#windows.set(key, window);
    for (const oldest of this.#windows.keys()) {
      if (this.#windows.size <= maxClients) return;
      this.#windows.delete(oldest);
    }
  }
}
