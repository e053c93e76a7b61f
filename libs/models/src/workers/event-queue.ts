/** Events pushed by one side and iterated by the other, in order; ends or fails once. */
export class EventQueue<Event> implements AsyncIterable<Event> {
  private readonly events: Event[] = [];
  private outcome?: { error?: unknown };
  private wake = () => {};

  /** Nothing more is pushed, though some may be left to read. */
  get over(): boolean {
    return this.outcome !== undefined;
  }

  push(event: Event): void {
    this.events.push(event);
    this.wake();
  }

  end(): void {
    this.outcome ??= {};
    this.wake();
  }

  /** Events pushed before are still delivered. */
  fail(error: unknown): void {
    this.outcome ??= { error };
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, void> {
    for (;;) {
      while (this.events.length > 0) yield this.events.shift()!;
      if (this.outcome) break;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
    if ('error' in this.outcome) throw this.outcome.error;
  }
}
