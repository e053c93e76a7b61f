/** Misses in a row after which a model is not asked for a while. */
const maxMisses = 3;
const pauseMs = 60_000;

interface Misses {
  inRow: number;
  /** Time of the last miss, by the clock. */
  at: number;
}

/**
 * Pauses the calls of a model that has missed its limit several times in a row, so that a slow model does not delay
 * every request. After the pause one call is tried: another miss begins the next pause.
 */
export class MissPause {
  readonly #misses = new Map<string, Misses>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Whether a model may be asked now. The first call after a pause begins the next one, until its result is known. */
  admits(model: string): boolean {
    const misses = this.#misses.get(model);
    if (!misses || misses.inRow < maxMisses) return true;
    if (this.now() - misses.at < pauseMs) return false;
    misses.at = this.now();
    return true;
  }

  hit(model: string): void {
    this.#misses.delete(model);
  }

  miss(model: string): void {
    const inRow = (this.#misses.get(model)?.inRow ?? 0) + 1;
    this.#misses.set(model, { inRow, at: this.now() });
  }
}
