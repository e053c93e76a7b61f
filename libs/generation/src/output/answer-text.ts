import type { TokenLogprob } from '#contracts';
import { Detokeniser } from '#models';
import type { TokenVocabulary } from '#models';
import { StopMatcher } from './stop-matcher.js';

export interface AnswerToken {
  readonly id: number;
  readonly logprob?: TokenLogprob;
}

/** Text that became certain, with the tokens it came from. */
export interface AnswerPiece {
  readonly text: string;
  readonly tokens: readonly AnswerToken[];
  /** A stop string was reached; text and tokens end before it, or with it where it is wanted. */
  readonly stopped: boolean;
}

/** Tokens in, certain text out: whole characters only, nothing of a stop string, each token with the text it began. */
export class AnswerText {
  private readonly detokeniser: Detokeniser;
  private readonly matcher: StopMatcher;
  /** Tokens not handed out yet, with the offset in the answer at which their text starts. */
  private waiting: { token: AnswerToken; start: number }[] = [];
  private received = 0;
  private emitted = 0;

  constructor(
    private readonly vocabulary: TokenVocabulary,
    stops: readonly string[],
    includeStop = false,
  ) {
    this.detokeniser = new Detokeniser(vocabulary.droppedSpaces);
    this.matcher = new StopMatcher(stops, includeStop);
  }

  push(token: AnswerToken): AnswerPiece {
    const piece = this.detokeniser.push(this.vocabulary.bytesOf(token.id));
    this.waiting.push({ token, start: this.received });
    this.received += piece.length;
    const { text, stopped } = this.matcher.push(piece);
    this.emitted += text.length;
    return { text, tokens: this.release(), stopped };
  }

  /** What was held back; the bytes of a character that never became whole are dropped. */
  finish(): AnswerPiece {
    const text = this.matcher.flush();
    const tokens = this.waiting.map(({ token }) => token);
    this.waiting = [];
    return { text, tokens, stopped: false };
  }

  private release(): AnswerToken[] {
    const certain = (start: number) =>
      start < this.emitted || (start === this.emitted && start === this.received);
    const released = this.waiting.filter(({ start }) => certain(start));
    this.waiting = this.waiting.filter(({ start }) => !certain(start));
    return released.map(({ token }) => token);
  }
}
