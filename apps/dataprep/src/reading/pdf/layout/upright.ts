import type { Ruling } from '../content/rulings.js';
import type { PlacedWord } from '../content/word-writer.js';

/** A word on a horizontal line of the turned page; x grows to the right, y upwards. */
export interface PageWord {
  text: string;
  x: number;
  y: number;
  width: number;
  size: number;
  isBold: boolean;
  /** The text has a space before it. */
  isSpaced: boolean;
  /** It is the value of a form field. */
  isField?: true;
  /** A table that takes the place of the words in it. */
  table?: PageTable;
}

/** A table on a page. */
export interface PageTable {
  cells: PlacedCell[];
  /** Left borders of the columns, to recognize the same table on the next page. */
  columns: number[];
}

/** A cell and the rows and columns that it covers. */
export interface PlacedCell {
  text: string;
  row: number;
  column: number;
  rows: number;
  columns: number;
  isBold: boolean;
}

/** The words of one direction, with the lines of the page turned in the same way. */
export interface TextLayer {
  words: PageWord[];
  rulings: Ruling[];
  /** Direction of its text on the page, in radians. */
  angle: number;
}

/**
 * Turns the words of each direction to the horizontal: first a title, then the direction of most of the text, then the
 * others.
 */
export function uprightLayers(words: readonly PlacedWord[], rulings: readonly Ruling[]): TextLayer[] {
  const groups = new Map<number, PlacedWord[]>();
  for (const word of words) {
    const degrees = (Math.round((word.angle * 180) / Math.PI / 2) * 2 + 360) % 360;
    const group = groups.get(degrees);
    if (group) group.push(word);
    else groups.set(degrees, [word]);
  }
  const layers = [...groups.values()]
    .toSorted((left, right) => letters(right) - letters(left))
    .map((group, index) => {
      const angle = group[0]?.angle ?? 0;
      const turned = group.map((word) => turnWord(word, angle));
      return {
        angle,
        words: withoutDoubles(turned),
        // The lines of a page belong to its main direction.
        rulings: index === 0 ? rulings.map((ruling) => turnBox(ruling, angle)) : [],
      };
    });
  const [main] = layers;
  const isTitle = (layer: TextLayer) => layer !== main && main !== undefined && isTitleOf(layer, main);
  return [...layers.filter(isTitle), ...layers.filter((layer) => !isTitle(layer))];
}

/** Limits for the words of a title in another direction than the text, and for their size as a multiple of the text's. */
const title = { maxWords: 20, minSize: 1.3 };

function isTitleOf({ words }: TextLayer, main: TextLayer): boolean {
  if (words.length > title.maxWords) return false;
  const sizes = main.words.map(({ size }) => size).toSorted((one, other) => one - other);
  const usual = sizes[Math.floor(sizes.length / 2)] ?? 0;
  return words.every(({ size }) => size >= title.minSize * usual);
}

const letters = (group: readonly PlacedWord[]) => group.reduce((sum, { text }) => sum + text.length, 0);

function turn(x: number, y: number, angle: number): [x: number, y: number] {
  return [x * Math.cos(angle) + y * Math.sin(angle), y * Math.cos(angle) - x * Math.sin(angle)];
}

function turnWord({ angle: _own, ...word }: PlacedWord, angle: number): PageWord {
  const [x, y] = turn(word.x, word.y, angle);
  return { ...word, x, y };
}

/** A box of the page after the turn. */
export function turnBox({ left, bottom, right, top }: Ruling, angle: number): Ruling {
  const [x1, y1] = turn(left, bottom, angle);
  const [x2, y2] = turn(right, top, angle);
  return {
    left: Math.min(x1, x2),
    right: Math.max(x1, x2),
    bottom: Math.min(y1, y2),
    top: Math.max(y1, y2),
  };
}

/** Share of the font size by which a word that is painted twice, for bold or with a shadow, may be moved. */
const maxShift = 0.15;

/** Drops a word that repeats the word below it. */
function withoutDoubles(words: readonly PageWord[]): PageWord[] {
  const painted = new Map<string, PageWord[]>();
  return words.filter((word) => {
    const near = maxShift * word.size;
    const isSame = ({ x, y }: PageWord) => Math.abs(x - word.x) < near && Math.abs(y - word.y) < near;
    const [low, high] = [lineKey(word, -near), lineKey(word, near)];
    if (painted.get(low)?.some(isSame) || (high !== low && painted.get(high)?.some(isSame))) return false;
    const key = lineKey(word, 0);
    const others = painted.get(key);
    if (others) others.push(word);
    else painted.set(key, [word]);
    return true;
  });
}

/** Words with the same text at about the same height have the same key. */
function lineKey({ text, y, size }: PageWord, shift: number): string {
  return `${Math.floor((y + shift) / Math.max(size, 0.1))} ${text}`;
}
