import { setTimeout as delay } from 'node:timers/promises';

/** A pass of a large model may take this long; beyond it the thread does not work. */
const longestPassMs = 10_000;
/** How long one check waits for an answer. */
const patienceMs = 1_000;

/**
 * Whether the thread of a model works. It answers between two passes, so a question may stay open over several checks: the
 * thread is healthy while its oldest open question is young.
 */
export class ThreadCheck {
  #open: { askedAt: number; answer: Promise<void> } | undefined;

  constructor(
    private readonly ask: () => Promise<void>,
    private readonly limits = { longestPassMs, patienceMs },
  ) {}

  /** Errors: says for how long the thread has not answered; and those of the question. */
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
    if (openMs > this.limits.longestPassMs)
      throw new Error(`the model's thread has not answered for ${Math.round(openMs / 1000)} s`);
  }
}
