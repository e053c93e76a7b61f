import type { CitablePassage } from './citable-passage.js';

/** A passage cited by name: `[handbook.md]`. */
export interface NamedForm {
  readonly end: number;
  /** Numbers of the passages with this name. */
  readonly numbers: readonly number[];
  /** A link with the name as its text, `[Handbook](url)`: it may be a part of the sentence. */
  readonly isLink: boolean;
}

const closings: Readonly<Record<string, string>> = { '[': ']', '【': '】', '(': ')', '<': '>' };
const label =
  /^(?:sources?|docs?|documents?|files?|refs?|references?|cite[ds]?|citations?|see|from|per|according to|quellen?|datei|dokument|siehe|laut|fuente|fonte|bron|źródło)(?:\s*:\s*|\s+)/;
const place =
  /[,:;|–-]?\s*(?:(?:pp?|pages?|s|seiten?|sections?|abschnitt|lines?|zeilen?|slides?|rows?)\.?\s*\d[\d.–-]*|§\s*\d+)$/;
/** Limit for the characters between the brackets. */
const maxLength = 160;
/** Words besides the names in a line of a list of sources: "section", "page". */
const maxOtherWords = 3;

/** Finds passages that are cited by their file, title or address. */
export class NamedForms {
  readonly #numbers = new Map<string, number[]>();
  #names: string[] | undefined;

  constructor(passages: readonly CitablePassage[]) {
    for (const { number, names } of passages)
      for (const name of names) this.#numbers.set(name, [...(this.#numbers.get(name) ?? []), number]);
  }

  /** The form at an index; `open`: the text ends within a name or its link. Undefined for another text. */
  at(text: string, index: number, isLast: boolean): NamedForm | 'open' | undefined {
    const opening = text[index]!;
    const closing = closings[opening];
    if (closing === undefined) return undefined;
    const content = text.slice(index + 1, index + 1 + maxLength);
    const length = content.indexOf(closing);
    if (length === -1) {
      const isOpen = !isLast && content.length < maxLength && !content.includes('\n');
      return isOpen && this.#begins(content) ? 'open' : undefined;
    }
    const inner = content.slice(0, length);
    const numbers = this.#find(inner);
    // In round brackets and tags only a file is surely a source.
    const isFile = label.test(plainName(inner)) || /\.[a-z]\w{1,4}$/i.test(withoutPlace(plainName(inner)));
    if (!numbers || ((opening === '(' || opening === '<') && !isFile)) return undefined;
    return withLink({ end: index + length + 2, numbers, isLink: false }, text, opening === '[' && !isLast);
  }

  /** The numbers of the passages that a line of a list of sources names; empty for a line with other words. */
  namedBy(line: string): number[][] {
    const item = line.replace(/^[\s>*_+-]*(?:\d+[.)]\s+)?/, '');
    if (/[.!?]\s*$/.test(item)) return [];
    let rest = plainName(item.replaceAll(/\[\d{1,3}\]|<?https?:\S+/g, ' '));
    const found: number[][] = [];
    for (const name of this.#longestFirst) {
      if (!rest.includes(name)) continue;
      rest = rest.replaceAll(name, ' ');
      found.push(this.#numbers.get(name)!);
    }
    const others = rest.match(/\p{L}+/gu) ?? [];
    return others.length <= maxOtherWords ? found : [];
  }

  get #longestFirst(): string[] {
    this.#names ??= [...this.#numbers.keys()].toSorted((one, other) => other.length - one.length);
    return this.#names;
  }

  #find(content: string): number[] | undefined {
    const name = withoutPlace(plainName(content).replace(label, ''));
    return this.#numbers.get(name);
  }

  /** Whether an unfinished text between brackets may become a name. */
  #begins(content: string): boolean {
    const plain = plainName(content);
    const name = plain.replace(label, '');
    if (name === '' || labelStarts.some((start) => start.startsWith(plain))) return true;
    return [...this.#numbers.keys()].some((known) => known.startsWith(name) || name.startsWith(known));
  }
}

const labelStarts = [
  'source:',
  'sources:',
  'document:',
  'file:',
  'reference:',
  'see ',
  'from ',
  'according to ',
  'quelle:',
  'datei:',
  'dokument:',
  'siehe ',
];

function withLink(form: NamedForm, text: string, mayContinue: boolean): NamedForm | 'open' {
  if (form.end === text.length) return mayContinue ? 'open' : form;
  if (text[form.end] !== '(') return form;
  const link = /\([^\s()]*\)/y;
  link.lastIndex = form.end;
  const [found] = link.exec(text) ?? [];
  if (found !== undefined) return { ...form, end: form.end + found.length, isLink: true };
  return mayContinue && /^\([^\s()]*$/.test(text.slice(form.end)) ? 'open' : form;
}

function plainName(text: string): string {
  return text
    .trimStart()
    .toLowerCase()
    .replaceAll(/["“”„*_`[]|†.*$/gu, '')
    .replaceAll(/\s+/g, ' ');
}

function withoutPlace(name: string): string {
  return name.trim().replace(place, '').trim();
}
