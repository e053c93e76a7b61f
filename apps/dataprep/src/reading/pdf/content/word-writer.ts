/** A word on a page: its baseline begins at x and y and runs in the direction of `angle`; sizes in points. */
export interface PlacedWord {
  text: string;
  x: number;
  y: number;
  width: number;
  size: number;
  /** In radians, counterclockwise. */
  angle: number;
  isBold: boolean;
  /** The text has a space before it. */
  isSpaced: boolean;
}

/** What glyphs that are painted together have in common. */
interface GlyphStyle extends Pick<PlacedWord, 'size' | 'angle' | 'isBold'> {
  /** Distance between the glyphs that the text sets. */
  spacing: number;
}

/** A gap between two glyphs from which they belong to two words, as a share of the font size. */
const wordGap = 0.16;

/** Joins glyphs to words in the order in which they are painted. */
export class WordWriter {
  readonly #words: PlacedWord[] = [];
  #style: GlyphStyle = { size: 1, angle: 0, isBold: false, spacing: 0 };
  /** The word that the next glyph may continue. */
  #open: PlacedWord | undefined;
  #cosine = 1;
  #sine = 0;
  #isSpaced = false;

  setStyle(style: GlyphStyle): void {
    const { size, angle, isBold } = this.#style;
    const isSame =
      Math.abs(style.angle - angle) < 0.01 &&
      Math.abs(style.size - size) < 0.1 * size &&
      style.isBold === isBold;
    if (!isSame) this.#open = undefined;
    this.#style = style;
    if (style.angle === angle) return;
    this.#cosine = Math.cos(style.angle);
    this.#sine = Math.sin(style.angle);
  }

  /** Adds a glyph that begins at x and y. */
  add(text: string, x: number, y: number, width: number): void {
    if (!text.trim()) {
      // A glyph without text leaves the word open: it may be a part of it.
      if (text === '') return;
      this.#isSpaced = true;
      this.#open = undefined;
      return;
    }
    const along = this.#open ? this.#distance(this.#open, x, y) : undefined;
    if (this.#open && along !== undefined) {
      this.#open.text += text;
      this.#open.width = along + width;
    } else {
      const { size, angle, isBold } = this.#style;
      this.#open = { text, x, y, width, size, angle, isBold, isSpaced: this.#isSpaced };
      this.#words.push(this.#open);
    }
    this.#isSpaced = false;
  }

  finish(): PlacedWord[] {
    return this.#words;
  }

  /** Distance of a glyph from the beginning of a word that it continues; undefined if it begins another one. */
  #distance(word: PlacedWord, x: number, y: number): number | undefined {
    const [right, up] = [x - word.x, y - word.y];
    const along = right * this.#cosine + up * this.#sine;
    const across = up * this.#cosine - right * this.#sine;
    const gap = along - word.width - this.#style.spacing;
    const isNext = gap < wordGap * word.size && gap > -0.5 * word.size && Math.abs(across) < 0.1 * word.size;
    return isNext ? along : undefined;
  }
}
