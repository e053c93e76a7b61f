import type { TokenLogprob } from '#contracts';

interface WaitingLogprob {
  /** Length of the model's text with this token. */
  readonly end: number;
  readonly logprob: TokenLogprob;
}

/** The text that an answer consists of so far, cut before the caller's stop strings, and the logprobs that belong to it. */
export class AnswerWriter {
  #text = '';
  #piece = '';
  #stopped = false;
  #waiting: WaitingLogprob[] = [];
  #released: TokenLogprob[] | undefined;

  constructor(private readonly stops: readonly string[]) {}

  get text(): string {
    return this.#text;
  }

  /** A stop string was reached; nothing is written any more. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Makes the answer begin with the text, which begins with what was written before. */
  writeUpTo(text: string): void {
    if (this.#stopped || text.length <= this.#text.length) return;
    const cut = this.#firstStop(text);
    this.#stopped = cut !== undefined;
    const end = Math.max(cut ?? text.length, this.#text.length);
    this.#piece += text.slice(this.#text.length, end);
    this.#text = text.slice(0, end);
  }

  /** Keeps a token's logprob until the model's text is shown up to its end. */
  hold(end: number, logprob: TokenLogprob): void {
    this.#waiting.push({ end, logprob });
  }

  release(shown: number): void {
    const ready = this.#waiting.filter(({ end }) => end <= shown);
    if (ready.length === 0) return;
    this.#waiting = this.#waiting.filter(({ end }) => end > shown);
    this.#released = [...(this.#released ?? []), ...ready.map(({ logprob }) => logprob)];
  }

  /** What was written since the last call. */
  take(): { text: string; logprobs?: TokenLogprob[] } {
    const piece = { text: this.#piece, ...(this.#released && { logprobs: this.#released }) };
    this.#piece = '';
    this.#released = undefined;
    return piece;
  }

  #firstStop(text: string): number | undefined {
    const longest = Math.max(0, ...this.stops.map((stop) => stop.length));
    const from = Math.max(0, this.#text.length - longest + 1);
    const found = this.stops.map((stop) => text.indexOf(stop, from)).filter((index) => index >= 0);
    return found.length > 0 ? Math.min(...found) : undefined;
  }
}
