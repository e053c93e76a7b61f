import { setMaxListeners } from 'node:events';

/** Work on one item. Yields its steps as they happen, and ends when its signal aborts. */
export type Work<Item, Step> = (item: Item, signal: AbortSignal) => AsyncGenerator<Step, void, void>;

type Running<Step> = AsyncGenerator<Step, void, void>;

interface Turn<Step> {
  running: Running<Step>;
  result: IteratorResult<Step, void>;
}

/**
 * Works on up to `width` items concurrently and yields their steps as they come. The steps of one item stay in order.
 * While one item waits for a parser, a model or a database, the others continue. The first failure stops the other
 * items; so does leaving the loop.
 */
export async function* sideBySide<Item, Step>(
  items: Iterable<Item>,
  { width, signal }: { width: number; signal: AbortSignal },
  work: Work<Item, Step>,
): AsyncGenerator<Step, void, void> {
  const stop = new AbortController();
  const own = AbortSignal.any([signal, stop.signal]);
  // Each item listens.
  setMaxListeners(0, own);
  const waiting = items[Symbol.iterator]();
  const turns = new Turns<Step>();
  const begin = () => {
    const next = waiting.next();
    if (!next.done) turns.advance(work(next.value, own));
  };
  let reported: Running<Step> | undefined;
  try {
    for (let count = 0; count < width; count += 1) begin();
    for (let turn = await turns.next(); turn; turn = await turns.next()) {
      const { running, result } = turn;
      if (result.done) begin();
      else {
        reported = running;
        yield result.value;
        reported = undefined;
        turns.advance(running);
      }
    }
  } finally {
    stop.abort();
    await reported?.return();
    await turns.end();
  }
}

/** The next steps of several generators, in the order in which they come. */
class Turns<Step> {
  readonly #underWay = new Set<Running<Step>>();
  readonly #ready: Turn<Step>[] = [];
  #failure: { error: unknown } | undefined;
  #wake = (): void => undefined;

  /** Asks a generator for its next step. */
  advance(running: Running<Step>): void {
    this.#underWay.add(running);
    void running
      .next()
      .then(
        (result) => void this.#ready.push({ running, result }),
        (error: unknown) => void (this.#failure ??= { error }),
      )
      .then(() => this.#wake());
  }

  /** Waits for the next step; undefined if no generator is running. Errors: the first failure of a generator. */
  async next(): Promise<Turn<Step> | undefined> {
    // Promise.race would add another handler to every pending step at each call.
    while (this.#ready.length === 0 && this.#underWay.size > 0 && !this.#failure)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#failure) throw this.#failure.error;
    const turn = this.#ready.shift();
    if (turn) this.#underWay.delete(turn.running);
    return turn;
  }

  /** Ends all generators, each after its current step. Resolves when all have ended. */
  async end(): Promise<void> {
    await Promise.allSettled([...this.#underWay].map((running) => running.return()));
  }
}
