/** Work on one item: its steps as they happen. It ends when its signal aborts. */
export type Work<Item, Step> = (item: Item, signal: AbortSignal) => AsyncGenerator<Step, void, void>;

interface Turn<Step> {
  running: AsyncGenerator<Step, void, void>;
  result: IteratorResult<Step, void>;
}

/**
 * Works on up to `width` items at a time and yields their steps as they come; an item's own steps stay in order. While one
 * item waits, for a parser, a model or a database, others go on. The first failure, and leaving the loop, stop the others.
 */
export async function* sideBySide<Item, Step>(
  items: Iterable<Item>,
  { width, signal }: { width: number; signal: AbortSignal },
  work: Work<Item, Step>,
): AsyncGenerator<Step, void, void> {
  const stop = new AbortController();
  const own = AbortSignal.any([signal, stop.signal]);
  const waiting = items[Symbol.iterator]();
  const turns = new Map<AsyncGenerator<Step, void, void>, Promise<Turn<Step>>>();
  const advance = (running: AsyncGenerator<Step, void, void>) =>
    turns.set(
      running,
      running.next().then((result) => ({ running, result })),
    );
  const begin = () => {
    const next = waiting.next();
    if (!next.done) advance(work(next.value, own));
  };
  let reported: AsyncGenerator<Step, void, void> | undefined;
  try {
    for (let count = 0; count < width; count += 1) begin();
    while (turns.size > 0) {
      const { running, result } = await Promise.race(turns.values());
      turns.delete(running);
      if (result.done) begin();
      else {
        reported = running;
        yield result.value;
        reported = undefined;
        advance(running);
      }
    }
  } finally {
    stop.abort();
    await reported?.return();
    await Promise.allSettled([...turns.values()].map(async (turn) => (await turn).running.return()));
  }
}
