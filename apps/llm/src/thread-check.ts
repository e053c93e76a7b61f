import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds of the longest pass of a large model. A thread that takes longer counts as broken. */
const maxPassMs = 10_000;
/** Milliseconds that one check waits for an answer. */
const patienceMs = 1_000;

/**
 * Checks whether the thread of a model works. It answers between two passes, so a question may stay open during several
 * checks. The thread is healthy while its open question is not older than the longest pass.
 */
export class ThreadCheck {
  #open: { askedAt: number; answer: Promise<void> } | undefined;

  constructor(
    private readonly ask: () => Promise<void>,
    private readonly limits = { maxPassMs, patienceMs },
  ) {}

  /** Errors: an Error with the seconds since the last answer of the thread; the errors of the question. */
  async check(): Promise<void> {
    this.#open ??= { askedAt: performance.now(), answer: this.ask().finally(() => (this.#open = undefined)) };
    const { askedAt, answer } = this.#open;
    const over = new AbortController();
    const impatience = delay(this.limits.patienceMs, 'open', { signal: over.signal }).catch(() => 'answered');
    try {
      if ((await Promise.race([answer, impatience])) !== 'open') return;
    } finally {
      over.abort();
    }
    const openMs = performance.now() - askedAt;
    if (openMs > this.limits.maxPassMs)
      throw new Error(`the model's thread has not answered for ${Math.round(openMs / 1000)} s`);
  }
}
