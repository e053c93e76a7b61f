/** Follows the strings of a JSON text while it is written. */
export class JsonStrings {
  /** Offset of the first character of the open string; undefined outside of strings. */
  start: number | undefined;
  #isEscaped = false;

  /** Reads a further part, which begins at an offset of the text. */
  push(text: string, offset: number): void {
    let end = offset;
    for (const sign of text) {
      end += sign.length;
      if (this.#isEscaped) this.#isEscaped = false;
      else if (sign === '\\' && this.start !== undefined) this.#isEscaped = true;
      else if (sign === '"') this.start = this.start === undefined ? end : undefined;
    }
  }
}
