/** Limit for the tokens of a repeated phrase. */
const maxPhraseTokens = 64;
/** A phrase counts as repeated without end after this number of times in a row ... */
const minTimes = 4;
/** ... and this number of tokens, since a short phrase, as a rule in a table, may be written several times. */
const minTokens = 48;

/** Notices that a completion repeats one token or one phrase. */
export class Repetition {
  readonly #recent: number[] = [];
  /** For each length of a phrase: how many of the last tokens equal the token one length before. */
  readonly #equal = new Uint32Array(maxPhraseTokens + 1);

  /** Adds a token. Returns true if the text now only repeats its last phrase. */
  append(token: number): boolean {
    let repeats = false;
    for (let length = 1; length <= maxPhraseTokens; length += 1) {
      const before = this.#recent[this.#recent.length - length];
      const equal = before === token ? this.#equal[length]! + 1 : 0;
      this.#equal[length] = equal;
      repeats ||= equal >= length * (minTimes - 1) && equal + length >= minTokens;
    }
    this.#recent.push(token);
    if (this.#recent.length > maxPhraseTokens) this.#recent.shift();
    return repeats;
  }
}
