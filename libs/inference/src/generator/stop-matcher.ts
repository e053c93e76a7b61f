/**
 * Finds stop strings in a text that arrives in pieces. Text that may be the start of a stop string is held back, so
 * that no part of one is ever emitted.
 */
export class StopMatcher {
  private held = '';

  constructor(private readonly stops: readonly string[]) {}

  /** Returns the text that is certain by now; after `stopped` there is no more. */
  push(piece: string): { text: string; stopped: boolean } {
    const text = this.held + piece;
    const at = this.earliestStop(text);
    if (at >= 0) {
      this.held = '';
      return { text: text.slice(0, at), stopped: true };
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

  private earliestStop(text: string): number {
    const found = this.stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
    return found.length > 0 ? Math.min(...found) : -1;
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
