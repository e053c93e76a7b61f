import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';

/** How a running child is asked whether it still moves. */
export interface Liveness {
  /** Resolves when the child answers; rejects when it does not, at the latest when the signal aborts. */
  probe(signal: AbortSignal): Promise<void>;
  /** Wait between two questions, in milliseconds. */
  intervalMs: number;
  /** Questions in a row without an answer after which the child counts as hung. A late answer counts too. */
  misses: number;
}

/** A hang is noticed within 5 s of its beginning; an answer may take 3.6 s. */
const patience = { intervalMs: 1_200, misses: 3 };

/** Any answer of a server counts: that it is well is another question. */
export function liveOverHttp(url: string): Liveness {
  return {
    ...patience,
    probe: async (signal) => {
      const { body } = await request(url, { signal });
      await body.dump();
    },
  };
}

/** A server that says something on every new connection. */
export function liveByGreeting(greet: (signal: AbortSignal) => Promise<unknown>): Liveness {
  return { ...patience, probe: async (signal) => void (await greet(signal)) };
}

/** Asks until the child hangs or the signal aborts; true where it hangs. */
export async function watchLiveness(liveness: Liveness, signal: AbortSignal): Promise<boolean> {
  const { intervalMs, misses } = liveness;
  let unanswered = 0;
  while (!signal.aborted) {
    if (unanswered >= misses) return true;
    unanswered += 1;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(intervalMs * misses)]);
    liveness.probe(limit).then(
      () => (unanswered = 0),
      () => undefined,
    );
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}
