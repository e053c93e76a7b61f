/** Text that arrives in pieces, with whitespace normalised: none at the start, one space between words. */
export class NormalisedText {
  #text = '';
  #spaceWaits = false;

  /** What has come so far; a space counts once a word follows it. */
  get value(): string {
    return this.#text;
  }

  /** The length that it would have with a further piece. */
  lengthWith(piece: string): number {
    const copy = new NormalisedText();
    copy.#text = this.#text;
    copy.#spaceWaits = this.#spaceWaits;
    copy.push(piece);
    return copy.value.length;
  }

  push(piece: string): void {
    for (const part of piece.split(/(\s+)/)) {
      if (part === '') continue;
      if (part.trim() === '') this.#spaceWaits = this.#text !== '';
      else this.#append(part);
    }
  }

  #append(word: string): void {
    this.#text += this.#spaceWaits ? ` ${word}` : word;
    this.#spaceWaits = false;
  }
}
