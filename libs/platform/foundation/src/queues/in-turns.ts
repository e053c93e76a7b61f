import { setImmediate as nextTurn } from 'node:timers/promises';

/** Time that work on many items holds the event loop before other work gets a turn. */
const holdMs = 10;

/**
 * Gathers the items of long work that is done item by item. Other work of the event loop gets a turn every 10 ms.
 * Errors: the reason of the signal, and the errors of the items.
 */
export async function gatherInTurns<Item>(items: Iterable<Item>, signal: AbortSignal): Promise<Item[]> {
  const gathered: Item[] = [];
  signal.throwIfAborted();
  let turnAt = performance.now() + holdMs;
  for (const item of items) {
    gathered.push(item);
    if (performance.now() < turnAt) continue;
    await nextTurn();
    signal.throwIfAborted();
    turnAt = performance.now() + holdMs;
  }
  return gathered;
}
