import type { TokenLogprob } from '#platform/contracts';
import { Detokenizer, type TokenVocabulary } from '#engine/models';

/** A token of a completion. */
export interface CompletionToken {
  readonly id: number;
  readonly logprob?: TokenLogprob;
}

/** Text that is final, with its tokens. */
export interface CompletionPiece {
  readonly text: string;
  readonly tokens: readonly CompletionToken[];
  /** A stop string was reached; text and tokens end before it, or after it with `includeStop`. */
  readonly stopped: boolean;
}

/**
 * Converts tokens to final text: whole characters only, no part of a stop string, each token with the text that it
 * begins.
 */
export class CompletionText {
  private readonly detokenizer: Detokenizer;
  private readonly matcher: StopMatcher;
  /** Tokens that were not returned yet, with the offset of their text in the completion. */
  private waiting: { token: CompletionToken; start: number }[] = [];
  private received = 0;
  private emitted = 0;

  constructor(
    private readonly vocabulary: TokenVocabulary,
    stops: readonly string[],
    includeStop = false,
    droppedSpaces = vocabulary.droppedSpaces,
  ) {
    this.detokenizer = new Detokenizer(droppedSpaces);
    this.matcher = new StopMatcher(stops, includeStop);
  }

  /** Adds a token; returns the text that is final now. */
  push(token: CompletionToken): CompletionPiece {
    const piece = this.detokenizer.push(this.vocabulary.bytesOf(token.id));
    this.waiting.push({ token, start: this.received });
    this.received += piece.length;
    const { text, stopped } = this.matcher.push(piece);
    this.emitted += text.length;
    return { text, tokens: this.release(), stopped };
  }

  /** Returns the remaining text; bytes of an incomplete character are dropped. */
  finish(): CompletionPiece {
    const text = this.matcher.flush();
    const tokens = this.waiting.map(({ token }) => token);
    this.waiting = [];
    return { text, tokens, stopped: false };
  }

  private release(): CompletionToken[] {
    const certain = (start: number) =>
      start < this.emitted || (start === this.emitted && start === this.received);
    const released = this.waiting.filter(({ start }) => certain(start));
    this.waiting = this.waiting.filter(({ start }) => !certain(start));
    return released.map(({ token }) => token);
  }
}

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
