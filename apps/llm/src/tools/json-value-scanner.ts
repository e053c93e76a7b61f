/** Finds where one JSON value ends in text that comes in pieces. */
export class JsonValueScanner {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #begun = false;
  #done = false;

  get done(): boolean {
    return this.#done;
  }

  /** How many characters of the piece belong to the value (with spaces before it). */
  push(piece: string): number {
    for (let index = 0; index < piece.length; index += 1) {
      if (this.#done) return index;
      const character = piece.charAt(index);
      if (!this.#begun && character.trim() === '') continue;
      // A number or a word ends where something else begins.
      if (this.#begun && this.#depth === 0 && !this.#inString && /[\s,}\]]/.test(character)) {
        this.#done = true;
        return index;
      }
      this.#take(character);
    }
    return piece.length;
  }

  #take(character: string): void {
    this.#begun = true;
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (character === '\\') this.#escaped = true;
      else if (character === '"') this.#closeString();
    } else if (character === '"') this.#inString = true;
    else if (character === '{' || character === '[') this.#depth += 1;
    else if (character === '}' || character === ']') {
      this.#depth -= 1;
      this.#done = this.#depth <= 0;
    }
  }

  #closeString(): void {
    this.#inString = false;
    this.#done = this.#depth === 0;
  }
}
