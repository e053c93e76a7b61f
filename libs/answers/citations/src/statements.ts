import { sentenceSpans, type Span } from './sentence-spans.js';

/** A marker `[n]` in the answer, with the numbers of its passages in the answer. */
export interface Marker extends Span {
  readonly numbers: readonly number[];
}

const word = /[\p{L}\p{N}]/u;
/** Text between two markers that both belong to the statement before the first one. */
const connects = /^[\s,;&/()*_]*(?:and|und|et|y|e|en|i|oraz|or|oder)?[\s,;&/()*_]*$/iu;
const sourceLabel =
  'sources?|references?|citations?|cited sources|quellen?|quellenangaben?|belege?|einzelnachweise|références?|sources citées|fuentes?|referencias?|fonti|riferimenti|fontes?|referências?|bronnen|bron|źródł[oa]|odnośniki|footnotes?|fußnoten?|notes';
/** Before a marker, and not a part of its statement: opening marks, and "Source:". */
const leadIn = new RegExp(String.raw`(?:[\s*_~(„\[–—:;,-]|(?<![\p{L}\p{N}])(?:${sourceLabel})\s*:?)+$`, 'iu');
/** A line before a list of sources, or with one. */
const listHeading = new RegExp(String.raw`^[\s>*_#-]*(?:${sourceLabel})[*_]*\s*:?[*_]*\s*(.*)$`, 'iu');
/** Limits for the characters between markers that connect them, and of the beginning of a sentence. */
const maxConnection = 100;
const maxIntroduction = 100;
/** The beginning of a sentence that names its source: the statement follows. */
const introduces =
  /^(?:(?:according|as|per|based|see|in|from|laut|gemäß|nach|wie|siehe|selon|d['’]après|según|secondo|volgens|segundo|według)(?![\p{L}])(?:\s+\S+){0,6}|(?:\S+\s+){0,6}(?:to|in|by|from|of|see|per|laut))$/iu;
/** Before a statement, and not a part of it. */
const beforeStatement = /^(?:[\s>*_~#|•.,;:!?)\]"”’+-]|\d{1,3}[.)]\s)+/u;
const listMark = /^[\s>*_~#|•+-]*(?:\d{1,3}[.)]\s+)?[*_(]*$/;

/** The statements of an answer, and those that its markers belong to. */
export class Statements {
  /** The answer with spaces in the place of markers. */
  readonly #masked: string;
  readonly #sentences: readonly Span[];
  readonly #lines: readonly MarkerLine[];
  readonly #found = new Map<number, Span | undefined>();

  constructor(
    readonly answer: string,
    readonly markers: readonly Marker[],
  ) {
    let masked = '';
    for (const { start, end } of markers) {
      masked += answer.slice(masked.length, start);
      masked += ' '.repeat(end - start);
    }
    this.#masked = masked + answer.slice(masked.length);
    this.#sentences = sentenceSpans(this.#masked);
    this.#lines = linesOf(answer, markers);
  }

  /** The statement of a marker; undefined without one. */
  of(index: number): Span | undefined {
    if (!this.#found.has(index)) this.#found.set(index, this.#find(index));
    return this.#found.get(index);
  }

  #find(index: number): Span | undefined {
    if (this.#leads(index)) return this.#after(index);
    const span = this.#before(index);
    // "According to [1], tea is hot."
    return span && this.#introduces(span) ? (this.#after(index) ?? span) : span;
  }

  #before(index: number): Span | undefined {
    const { start } = this.markers[index]!;
    const previous = this.markers[index - 1];
    if (previous && connects.test(this.answer.slice(previous.end, start).slice(0, maxConnection)))
      return this.of(index - 1);
    for (let at = this.#sentences.findLastIndex((one) => one.start < start); at >= 0; at -= 1) {
      const sentence = this.#sentences[at]!;
      const from = Math.min(Math.max(sentence.start, previous?.end ?? 0), start);
      const span = this.#trimmed(from, Math.min(sentence.end, start));
      if (span) return span;
      if (previous && previous.end > sentence.start) return this.of(index - 1);
    }
    return undefined;
  }

  #introduces({ start, end }: Span): boolean {
    return end - start <= maxIntroduction && introduces.test(this.answer.slice(start, end));
  }

  /** Whether the statement comes after its marker: `[1] Tea is hot.` */
  #leads(index: number): boolean {
    const { isFirst, first, last, to } = this.#lines[index]!;
    if (!isFirst) return false;
    if (word.test(this.#masked.slice(this.markers[last]!.end, to))) return true;
    return index === first && word.test(this.#masked.slice(this.markers[index]!.end, to));
  }

  /** Whether later text of the line may be the statement of a marker: it begins the line or a sentence. */
  mayLead(index: number): boolean {
    const span = this.#before(index);
    return this.#lines[index]!.isFirst || (span !== undefined && this.#introduces(span));
  }

  /** The statements that need a source: without headings, code, questions, introductions, and what comes after `until`. */
  all(until: number): Span[] {
    const code = silentSpans(this.answer);
    return this.#sentences.flatMap(({ start, end }) => {
      if (start >= until || code.some((span) => span.start <= start && span.end > start)) return [];
      const text = this.#masked.slice(start, Math.min(end, until));
      if (/^#{1,6} |[?:]["”*_\s]*$|^[|\s:-]*$/u.test(text)) return [];
      const span = this.#trimmed(start, Math.min(end, until));
      const words = span ? this.answer.slice(span.start, span.end).split(/\s+/) : [];
      return span && words.length > 1 && words.some((one) => /\p{L}/u.test(one)) ? [span] : [];
    });
  }

  /**
   * Where the list of sources at the end of the answer begins: a line "Sources:" with lines of markers, names and
   * addresses below, or such lines alone. The length of the answer without one. `isWriting`: the answer is not complete.
   */
  sourceList(isName: (line: string) => boolean, isWriting = false): number {
    let begin = this.answer.length;
    let at = this.answer.length;
    for (const [index, line] of this.answer.split('\n').toReversed().entries()) {
      at -= line.length;
      const [, rest] = listHeading.exec(line) ?? [];
      if (rest !== undefined && this.#isOnlySources(at + line.length - rest.length, rest, isName)) return at;
      // The last line of an unfinished answer may become a source.
      const isOpen = isWriting && index === 0;
      const isBlank = line.trim() === '' || /^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/.test(line);
      if (!isBlank && !isOpen && !this.#isSource(at, line, isName)) return begin;
      if (!isBlank && !this.#isNamed(at, line, isName)) begin = this.answer.length;
      else if (!isBlank && this.#isAfterText(at)) begin = at;
      at -= 1;
    }
    return begin;
  }

  /** Whether the text after "Sources:" has markers, names and addresses alone. */
  #isOnlySources(at: number, rest: string, isName: (line: string) => boolean): boolean {
    const words = this.#masked
      .slice(at, at + rest.length)
      .replaceAll(/<?https?:\S+|\b(?:and|und|et|y)\b/g, '');
    return !word.test(words) || isName(rest);
  }

  /** A line of a list of sources begins with a marker, or is an address or a name. */
  #isSource(at: number, line: string, isName: (line: string) => boolean): boolean {
    const marker = this.markers.find(({ start }) => start >= at && start < at + line.length);
    if (marker && listMark.test(this.answer.slice(at, marker.start))) return true;
    return /^[\s>*_+-]*(?:\d+[.)]\s+)?<?https?:\S+\s*$/.test(line) || (isName(line) && line.length < 200);
  }

  /** Without a heading, each line of the list names its source, and begins with a marker. */
  #isNamed(at: number, line: string, isName: (line: string) => boolean): boolean {
    const marker = this.markers.find(({ start }) => start >= at && start < at + line.length);
    if (!marker || !listMark.test(this.answer.slice(at, marker.start))) return false;
    return /https?:/.test(line) || (isName(line) && !/[.!?]\s*$/.test(line) && line.length < 200);
  }

  #isAfterText(at: number): boolean {
    return word.test(this.#masked.slice(0, at));
  }

  #after(index: number): Span | undefined {
    let last = index;
    const isConnected = (next: number) =>
      next < this.markers.length &&
      this.#leads(next) &&
      connects.test(this.answer.slice(this.markers[last]!.end, this.markers[next]!.start));
    while (isConnected(last + 1)) last += 1;
    const { end } = this.markers[last]!;
    const to = Math.min(this.markers[last + 1]?.start ?? Infinity, this.#lines[last]!.to);
    for (const sentence of sentenceSpans(this.#masked.slice(end, to))) {
      const span = this.#trimmed(end + sentence.start, end + sentence.end);
      if (span) return span;
    }
    return undefined;
  }

  /** A span without marks at its ends; undefined without words. */
  #trimmed(from: number, to: number): Span | undefined {
    const text = this.#masked.slice(from, to);
    const first = from + (beforeStatement.exec(text)?.[0].length ?? 0);
    const end = from + text.replace(leadIn, '').length;
    // `**Tea:** hot` keeps the beginning of its emphasis.
    const marks = this.#masked.slice(first, end).match(/\*\*/g) ?? [];
    const isOpen = marks.length % 2 === 1 && this.#masked.slice(from, first).endsWith('**');
    const start = isOpen ? first - 2 : first;
    return start < end && word.test(this.#masked.slice(start, end)) ? { start, end } : undefined;
  }
}

/** The line of a marker: its end, and the first and the last marker on it. */
interface MarkerLine {
  readonly to: number;
  readonly first: number;
  readonly last: number;
  /** The line begins with its first marker. */
  readonly isFirst: boolean;
}

function linesOf(answer: string, markers: readonly Marker[]): MarkerLine[] {
  const lines: MarkerLine[] = [];
  while (lines.length < markers.length) {
    const first = lines.length;
    const { start } = markers[first]!;
    const from = answer.lastIndexOf('\n', start - 1) + 1;
    const end = answer.indexOf('\n', start);
    const to = end === -1 ? answer.length : end;
    const isFirst = listMark.test(answer.slice(from, start).slice(0, maxConnection));
    let last = first;
    while (markers[last + 1] && markers[last + 1]!.start < to) last += 1;
    for (let index = first; index <= last; index += 1) lines.push({ to, first, last, isFirst });
  }
  return lines;
}

/** Fenced code, and the thoughts of a model. */
function silentSpans(text: string): Span[] {
  const silent = /^ {0,3}(```|~~~)[^]*?(?:^ {0,3}\1|$(?![^]))|<think>[^]*?(?:<\/think>|$(?![^]))/gm;
  return [...text.matchAll(silent)].map(({ index, 0: found }) => ({
    start: index,
    end: index + found.length,
  }));
}
