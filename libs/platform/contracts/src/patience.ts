/** The time to wait for a request: a maximum time without a piece of its answer, and a deadline for the whole. */
export class Patience {
  #at: number;

  /** `limit`: epoch milliseconds. */
  constructor(
    readonly idleMs: number,
    private readonly limit: number,
    private readonly now: () => number = Date.now,
  ) {
    this.#at = Math.min(now() + idleMs, limit);
  }

  /** Epoch milliseconds at which it ends, unless a piece comes before. */
  get at(): number {
    return this.#at;
  }

  /** A piece of the answer has come. */
  renew(): void {
    this.#at = Math.min(this.now() + this.idleMs, this.limit);
  }

  /** Runs the action when it ends; the returned function stops the watch. */
  watch(action: () => void): () => void {
    let timer: NodeJS.Timeout;
    const arm = () => {
      timer = setTimeout(look, Math.max(0, Math.min(this.#at - this.now(), maxDelayMs)));
    };
    const look = () => {
      if (this.now() >= this.#at) action();
      else arm();
    };
    arm();
    return () => clearTimeout(timer);
  }
}

/** The longest delay of a timer. */
const maxDelayMs = 2 ** 31 - 1;
