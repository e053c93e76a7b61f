/**
 * Finds stop strings in streamed text. Text that may be the start of a stop string is held back, so that a part of
 * one is never emitted.
 */
export class StopMatcher {
  private held = '';

  /** @param includeStop Keep the stop string at the end of the text. */
  constructor(
    private readonly stops: readonly string[],
    private readonly includeStop = false,
  ) {}

  /** Adds text. Returns the text that is final; after `stopped` there is no more. */
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

  /** Returns the text that was held back, at the end of the stream. */
  flush(): string {
    const text = this.held;
    this.held = '';
    return text;
  }

  /** Returns the stop string that is complete first, as if the text came character by character. */
  private earliestStop(text: string): { start: number; end: number } | undefined {
    const found = this.stops.flatMap((stop) => {
      const start = text.indexOf(stop);
      return start < 0 ? [] : { start, end: start + stop.length };
    });
    return found.sort((a, b) => a.end - b.end || a.start - b.start)[0];
  }

  /** Length of the longest suffix of the text that is a prefix of a stop string. */
  private longestPartialStop(text: string): number {
    const maxLength = Math.min(text.length, Math.max(0, ...this.stops.map((stop) => stop.length - 1)));
    for (let length = maxLength; length > 0; length--) {
      const end = text.slice(text.length - length);
      if (this.stops.some((stop) => stop.startsWith(end))) return length;
    }
    return 0;
  }
}
