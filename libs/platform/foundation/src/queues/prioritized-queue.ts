import { TokenBudgetQueue, type QueuedItem } from './token-budget-queue.js';

/** `interactive`: a user waits for the result. `bulk`: work in the background, e.g. an ingest. */
export type Priority = 'interactive' | 'bulk';

/** Share of the tokens that bulk work gets while interactive work waits. */
const bulkShare = 0.2;

/** Limits of a {@link PrioritizedQueue}. */
interface QueueLimits {
  /** Maximum number of queued items of each priority. */
  readonly capacity: number;
  /** Maximum tokens of a batch. */
  readonly batchTokens: number;
}

/**
 * Queues work of two priorities; a batch contains items of one priority. Interactive work comes first. Bulk work gets
 * a batch when the interactive batches before it have earned its share of the tokens, so that it always proceeds.
 */
export class PrioritizedQueue<Value> {
  readonly #interactive: TokenBudgetQueue<Value>;
  readonly #bulk: TokenBudgetQueue<Value>;
  /** Tokens that the waiting bulk work has earned. */
  #earned = 0;

  constructor(private readonly limits: QueueLimits) {
    this.#interactive = new TokenBudgetQueue(limits.capacity);
    this.#bulk = new TokenBudgetQueue(limits.capacity);
  }

  /** The priority of the next batch; undefined if the queue is empty. */
  get next(): Priority | undefined {
    if (this.#bulk.length === 0) return this.#interactive.length === 0 ? undefined : 'interactive';
    const isBulk = this.#interactive.length === 0 || this.#earned >= this.limits.batchTokens;
    return isBulk ? 'bulk' : 'interactive';
  }

  /** Number of queued items of a priority. */
  count(priority: Priority): number {
    return this.#lane(priority).length;
  }

  /** Tokens of the queued items of a priority. */
  waitingTokens(priority: Priority): number {
    return this.#lane(priority).waitingTokens;
  }

  /** Adds the items of a request; returns false if other requests of its priority fill the queue. */
  push(request: object, items: readonly QueuedItem<Value>[], priority: Priority): boolean {
    return this.#lane(priority).push(request, items);
  }

  /** Removes and returns a batch of at most `budget` tokens of the {@link next} priority. */
  take(budget: number): Value[] {
    const { next } = this;
    if (!next) return [];
    const lane = this.#lane(next);
    const before = lane.waitingTokens;
    const batch = lane.take(budget);
    const tokens = before - lane.waitingTokens;
    if (next === 'interactive') this.#earned += (tokens * bulkShare) / (1 - bulkShare);
    else this.#earned = Math.max(0, this.#earned - tokens);
    if (this.#bulk.length === 0) this.#earned = 0;
    return batch;
  }

  /** Removes the queued items of a request. */
  remove(request: object): void {
    this.#interactive.remove(request);
    this.#bulk.remove(request);
  }

  #lane(priority: Priority): TokenBudgetQueue<Value> {
    return priority === 'bulk' ? this.#bulk : this.#interactive;
  }
}
