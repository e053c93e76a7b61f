import type { XmlDocument } from '../archives/archive.js';
import { attributeOf, childOf, elementsOf, nameOf, valueOf, type XmlElement } from '../archives/xml-nodes.js';

interface Level {
  format: string;
  /** `%1.%2`: the numbers of the levels. */
  text: string;
  start: number;
}

/** The numbers of the paragraphs of a document, in order. */
export class Numbering {
  readonly #levels = new Map<string, Map<number, Level>>();
  readonly #lists = new Map<string, { base: string; starts: Map<number, number> }>();
  readonly #counts = new Map<string, number[]>();
  readonly #started = new Set<string>();

  constructor($: XmlDocument | undefined) {
    const root = $?.root()[0];
    for (const element of elementsOf(elementsOf(root)[0])) {
      if (nameOf(element) === 'abstractNum')
        this.#levels.set(attributeOf(element, 'abstractNumId') ?? '', levelsOf(element));
      else if (nameOf(element) === 'num') this.#addList(element);
    }
  }

  /** Counts a paragraph of a list. Returns its mark; an empty text for a bullet. Undefined if the list is unknown. */
  next(list: string, level: number): string | undefined {
    const known = this.#lists.get(list);
    const levels = known && this.#levels.get(known.base);
    const found = levels?.get(level);
    if (!known || !levels || !found) return undefined;
    // Lists with the same base share one count, unless a list sets its own start.
    const counts = this.#counts.get(known.base) ?? [];
    this.#counts.set(known.base, counts);
    const first = `${list} ${level}`;
    const start = known.starts.get(level);
    if (start !== undefined && !this.#started.has(first)) counts[level] = start - 1;
    this.#started.add(first);
    counts[level] = (counts[level] ?? found.start - 1) + 1;
    counts.length = level + 1;
    if (found.format === 'bullet' || found.format === 'none') return '';
    return found.text.replaceAll(/%(\d)/g, (_found, digit: string) => {
      const at = Number(digit) - 1;
      const other = levels.get(at);
      return other ? numberText(counts[at] ?? other.start, other.format) : '';
    });
  }

  #addList(element: XmlElement): void {
    const starts = new Map<number, number>();
    for (const override of elementsOf(element))
      if (nameOf(override) === 'lvlOverride' && childOf(override, 'startOverride'))
        starts.set(Number(attributeOf(override, 'ilvl')), Number(valueOf(override, 'startOverride')));
    const base = valueOf(element, 'abstractNumId') ?? '';
    this.#lists.set(attributeOf(element, 'numId') ?? '', { base, starts });
  }
}

function levelsOf(element: XmlElement): Map<number, Level> {
  const levels = elementsOf(element).filter((child) => nameOf(child) === 'lvl');
  return new Map(
    levels.map((level) => [
      Number(attributeOf(level, 'ilvl')),
      {
        format: valueOf(level, 'numFmt') ?? 'decimal',
        text: valueOf(level, 'lvlText') ?? '',
        start: Number(valueOf(level, 'start') ?? 1),
      },
    ]),
  );
}

const romans: readonly [value: number, letters: string][] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
];

function numberText(number: number, format: string): string {
  if (format === 'lowerLetter' || format === 'upperLetter') {
    const letter = String.fromCharCode(97 + ((number - 1) % 26)).repeat(Math.floor((number - 1) / 26) + 1);
    return format === 'upperLetter' ? letter.toUpperCase() : letter;
  }
  if (format === 'lowerRoman' || format === 'upperRoman') {
    const roman = romanText(number);
    return format === 'upperRoman' ? roman.toUpperCase() : roman;
  }
  return format === 'decimalZero' ? String(number).padStart(2, '0') : String(number);
}

function romanText(number: number): string {
  let [left, text] = [Math.min(number, 4_000), ''];
  for (const [value, letters] of romans)
    while (left >= value) {
      text += letters;
      left -= value;
    }
  return text;
}
