import { isTerminal, type ResponseEvent } from './events.js';

/** The log of one response while it grows: any number of readers replay it from any point and then follow it. */
export class EventLog {
  readonly #events: ResponseEvent[] = [];
  readonly #waiting = new Set<() => void>();
  #closed: { error?: Error } | undefined;

  get events(): readonly ResponseEvent[] {
    return this.#events;
  }

  /** Adds events; the terminal one closes the log. */
  append(events: readonly ResponseEvent[]): void {
    if (this.#closed || events.length === 0) return;
    this.#events.push(...events);
    if (events.some(isTerminal)) this.#closed = {};
    this.#wake();
  }

  /** Ends the log without a terminal event, because its writer lost it; readers throw. */
  abandon(error: Error): void {
    this.#closed ??= { error };
    this.#wake();
  }

  /** Events behind sequence number `startingAfter` (-1: all), then the coming ones until the log ends. */
  async *follow(startingAfter = -1, signal?: AbortSignal): AsyncGenerator<ResponseEvent, void, void> {
    const first = this.#events[0]?.sequence_number ?? 0;
    let index = Math.max(0, startingAfter + 1 - first);
    for (;;) {
      if (signal?.aborted) return;
      const event = this.#events[index];
      if (event) {
        index += 1;
        yield event;
      } else if (this.#closed) {
        if (this.#closed.error) throw this.#closed.error;
        return;
      } else await this.#change(signal);
    }
  }

  #change(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    for (const wake of waiting) wake();
  }
}
