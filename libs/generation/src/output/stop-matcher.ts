/**
 * Finds stop strings in a text that arrives in pieces. Text that may be the start of a stop string is held back, so
 * that no part of one is ever emitted.
 */
export class StopMatcher {
  private held = '';

  /** @param includeStop The stop string that was found ends the text instead of being cut off. */
  constructor(
    private readonly stops: readonly string[],
    private readonly includeStop = false,
  ) {}

  /** Returns the text that is certain by now; after `stopped` there is no more. */
  push(piece: string): { text: string; stopped: boolean } {
    const text = this.held + piece;
    const found = this.earliestStop(text);
    if (found) {
      this.held = '';
      return { text: text.slice(0, this.includeStop ? found.end : found.start), stopped: true };
    }
    const keep = this.longestPartialStop(text);
    this.held = text.slice(text.length - keep);
    return { text: text.slice(0, text.length - keep), stopped: false };
  }

  /** What was held back, once it is known that nothing follows. */
  flush(): string {
    const text = this.held;
    this.held = '';
    return text;
  }

  /** The first one to be complete, as it would be found were the text to come letter by letter. */
  private earliestStop(text: string): { start: number; end: number } | undefined {
    const found = this.stops.flatMap((stop) => {
      const start = text.indexOf(stop);
      return start < 0 ? [] : { start, end: start + stop.length };
    });
    return found.sort((a, b) => a.end - b.end || a.start - b.start)[0];
  }

  /** Length of the longest end of the text that begins a stop string. */
  private longestPartialStop(text: string): number {
    const most = Math.min(text.length, Math.max(0, ...this.stops.map((stop) => stop.length - 1)));
    for (let length = most; length > 0; length--) {
      const end = text.slice(text.length - length);
      if (this.stops.some((stop) => stop.startsWith(end))) return length;
    }
    return 0;
  }
}
