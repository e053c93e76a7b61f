import { setTimeout as wait } from 'node:timers/promises';
import { MegaNestError } from '#contracts';

const pauseMs = 200;

/** Runs `work` again while the database is away, for `patienceMs` at most; other errors pass at once. */
export async function whileUnavailable<Result>(
  work: () => Promise<Result>,
  patienceMs: number,
): Promise<Result> {
  const until = Date.now() + patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const away = error instanceof MegaNestError && error.code === 'service_unavailable';
      if (!away || Date.now() > until) throw error;
      await wait(pauseMs);
    }
  }
}
