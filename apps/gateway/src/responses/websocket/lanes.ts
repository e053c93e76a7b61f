import { MegaNestError } from '#platform/contracts';

export interface LaneBounds {
  /** Limit for the concurrent lanes. */
  maxLanes: number;
  /** Limit for the waiting and running turns of all lanes together. */
  maxTurns: number;
}

/** Runs the turns of one lane in the order of their arrival, and different lanes concurrently. */
export class Lanes {
  readonly #tails = new Map<string, Promise<void>>();
  #turns = 0;

  constructor(private readonly bounds: LaneBounds) {}

  /** Number of turns that wait or run. */
  get turns(): number {
    return this.#turns;
  }

  /** Resolves once no turn waits or runs. */
  async idle(): Promise<void> {
    while (this.#tails.size > 0) await Promise.all(this.#tails.values());
  }

  /** Queues a turn, which must not throw. Errors: websocket_stream_limit_reached, overloaded. */
  add(lane: string, turn: () => Promise<void>): void {
    const { maxLanes, maxTurns } = this.bounds;
    const before = this.#tails.get(lane);
    if (!before && this.#tails.size >= maxLanes)
      throw new MegaNestError('websocket_stream_limit_reached', { limit: maxLanes, param: 'stream_id' });
    if (this.#turns >= maxTurns) {
      const detail = `${maxTurns} waiting turns on this connection`;
      throw new MegaNestError('overloaded', { service: 'gateway', detail, retryAfter: 1 });
    }
    this.#turns += 1;
    const tail = (before ?? Promise.resolve()).then(turn).finally(() => {
      this.#turns -= 1;
      if (this.#tails.get(lane) === tail) this.#tails.delete(lane);
    });
    this.#tails.set(lane, tail);
  }
}
