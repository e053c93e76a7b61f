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
const leadIn = new RegExp(
  String.raw`(?:[\s*_~("'“„\[–—:;,-]|(?<![\p{L}\p{N}])(?:${sourceLabel})\s*:?)+$`,
  'iu',
);
/** Before a statement, and not a part of it. */
const beforeStatement = /^(?:[\s>*_~#|•.,;:!?)\]"”’+-]|\d{1,3}[.)]\s)+/u;
const listMark = /^[\s>*_~#|•+-]*(?:\d{1,3}[.)]\s+)?[*_(]*$/;

/** The statements of an answer, and those that its markers belong to. */
export class Statements {
  /** The answer with spaces in the place of markers. */
  readonly #masked: string;
  readonly #sentences: readonly Span[];

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
  }

  /** The statement of a marker; undefined without one. */
  of(index: number): Span | undefined {
    if (this.leads(index)) return this.#after(index);
    const { start } = this.markers[index]!;
    const previous = this.markers[index - 1];
    if (previous && connects.test(this.answer.slice(previous.end, start))) return this.of(index - 1);
    for (let at = this.#lastBefore(start); at >= 0; at -= 1) {
      const sentence = this.#sentences[at]!;
      const from =
        previous && previous.end <= start ? Math.max(sentence.start, previous.end) : sentence.start;
      const span = this.#trimmed(Math.min(from, start), Math.min(sentence.end, start));
      if (span) return span;
      if (previous && previous.end > sentence.start) return this.of(index - 1);
    }
    return undefined;
  }

  /** Whether the statement comes after its marker: `[1] Tea is hot.` */
  leads(index: number): boolean {
    const { start, end } = this.markers[index]!;
    const [from, to] = [this.answer.lastIndexOf('\n', start - 1) + 1, lineEnd(this.answer, end)];
    const first = this.markers.findIndex((marker) => marker.start >= from);
    const last = this.markers.findLast((marker) => marker.start < to)!;
    if (!listMark.test(this.answer.slice(from, this.markers[first]!.start))) return false;
    if (word.test(this.#masked.slice(last.end, to))) return true;
    return index === first && word.test(this.#masked.slice(end, to));
  }

  /** Whether later text of the line may change the statement of a marker: the line begins with a marker. */
  mayLead(index: number): boolean {
    const from = this.answer.lastIndexOf('\n', this.markers[index]!.start - 1) + 1;
    const first = this.markers.find(({ start }) => start >= from)!;
    return listMark.test(this.answer.slice(from, first.start));
  }

  /** The statements that need a source: without headings, code, questions, introductions, and what comes after `until`. */
  all(until: number): Span[] {
    const code = codeSpans(this.answer);
    return this.#sentences.flatMap(({ start, end }) => {
      if (start >= until || code.some((span) => span.start <= start && span.end > start)) return [];
      const text = this.#masked.slice(start, Math.min(end, until));
      if (/^#{1,6} |[?:]["”*_\s]*$|^[|\s:-]*$/u.test(text)) return [];
      const span = this.#trimmed(start, Math.min(end, until));
      return span && /\p{L}[^\s]*\s+\S*[\p{L}\p{N}]/u.test(this.answer.slice(span.start, span.end))
        ? [span]
        : [];
    });
  }

  /**
   * Where the list of sources at the end of the answer begins: a line "Sources:" with lines of markers, names and
   * addresses below, or such lines alone. The length of the answer without one.
   */
  sourceList(isName: (line: string) => boolean): number {
    const heading = new RegExp(String.raw`^[\s>*_#-]*(?:${sourceLabel})[*_]*\s*:?[*_]*\s*(.*)$`, 'iu');
    let begin = this.answer.length;
    let at = this.answer.length;
    for (const line of this.answer.split('\n').toReversed()) {
      at -= line.length;
      const [, rest] = heading.exec(line) ?? [];
      if (rest !== undefined && (rest === '' || this.#isSource(line.length - rest.length + at, rest, isName)))
        return at;
      const isBlank = line.trim() === '' || /^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/.test(line);
      if (!isBlank && !this.#isSource(at, line, isName)) return begin;
      if (!isBlank && !this.#isNamed(at, line, isName)) begin = this.answer.length;
      else if (!isBlank && this.#isAfterText(at)) begin = at;
      at -= 1;
    }
    return begin;
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
    const { end } = this.markers[index]!;
    const to = Math.min(this.markers[index + 1]?.start ?? Infinity, lineEnd(this.answer, end));
    const connected = this.markers[index + 1];
    if (connected && connects.test(this.answer.slice(end, connected.start)) && this.leads(index + 1))
      return this.#after(index + 1);
    const [first] = sentenceSpans(this.#masked.slice(end, to));
    return first && this.#trimmed(end + first.start, end + first.end);
  }

  #lastBefore(position: number): number {
    return this.#sentences.findLastIndex(({ start }) => start < position);
  }

  /** A span without marks at its ends; undefined without words. */
  #trimmed(from: number, to: number): Span | undefined {
    const text = this.#masked.slice(from, to);
    const start = from + (beforeStatement.exec(text)?.[0].length ?? 0);
    const end = from + text.replace(leadIn, '').length;
    return start < end && word.test(this.#masked.slice(start, end)) ? { start, end } : undefined;
  }
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

/** Fenced code. */
function codeSpans(text: string): Span[] {
  return [...text.matchAll(/^ {0,3}(```|~~~)[^]*?(?:^ {0,3}\1|$(?![^]))/gm)].map(({ index, 0: found }) => ({
    start: index,
    end: index + found.length,
  }));
}
