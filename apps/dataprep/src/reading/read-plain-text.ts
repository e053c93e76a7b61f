import { collapseWhitespace, type DocumentBlock, type ParsedDocument } from './parsed-document.js';
import { standingHeading } from './text-formats/standing-heading.js';

const listMarker = /^\s*(?:[-*•‣◦+]|\d{1,3}[.)]|[a-z]\))\s+(?=\S)/;
const bulletMarker = /^\s*[-*•‣◦+]\s+/;
const underline = /^\s*(={3,}|-{3,}|~{3,})\s*$/;

/** Colors and other codes for terminals, as in logs. */
const terminalCodes = new RegExp(
  `${String.fromCharCode(27)}(?:\\[[0-9;?]*[A-Za-z]|\\][^\\u0007]*\\u0007)`,
  'g',
);

/** Minimum width at which a text may have been wrapped. */
const minMargin = 40;

/**
 * Reads plain text. Blank lines separate paragraphs. An underlined line is a heading, and so is a line above lines with
 * more indentation, a short line in capital letters, a short numbered line above its text, and in a wrapped text a few
 * words alone above prose. A line with a list mark is a list item. Lines that were wrapped at a margin are joined. A line end stays if the next word would have fitted on the
 * line, except in texts whose lines mostly go on in the next one.
 */
export function readPlainText(text: string): ParsedDocument {
  const groups = text
    .replaceAll(terminalCodes, '')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('\f', '\n\n')
    .split(/\n[^\S\n]*\n/)
    .map((group) => group.split('\n').filter((line) => line.trim()));
  const margin = marginOf(groups);
  const outline = new IndentedOutline((lines) => readGroup(lines, margin));
  const [first = [], ...others] = groups;
  const start = outline.read(first);
  const blocks = others.flatMap((group, index) => {
    const heading =
      margin !== undefined && group.length === 1
        ? standingHeading(group[0]!, others[index + 1], margin)
        : undefined;
    return heading ? [heading] : outline.read(group);
  });
  const title = blocks.some(({ kind }) => kind === 'heading') ? titleOf(first) : undefined;
  if (title === undefined) return { blocks: [...start, ...blocks] };
  return { title, blocks: [{ kind: 'heading', level: 1, text: title }, ...blocks] };
}

/** Limit for the words of a title. */
const maxTitleWords = 12;

/** The title of a text with headings: a short line in a paragraph of its own that does not end like a sentence. */
function titleOf([line = '', ...others]: readonly string[]): string | undefined {
  const text = collapseWhitespace(line);
  if (others.length > 0 || listMarker.test(line) || /[.,;:!?]$/.test(text)) return undefined;
  return text !== '' && text.split(' ').length <= maxTitleWords ? text : undefined;
}

function readGroup(lines: string[], margin: number | undefined): DocumentBlock[] {
  const heading = plainHeading(lines);
  const blocks: DocumentBlock[] = heading ? [heading] : [];
  let begin = blocks.length;
  const readUntil = (end: number) => {
    for (const block of joinWrapped(lines.slice(begin, end), margin)) blocks.push(block);
  };
  for (let at = begin + 1; at < lines.length; at += 1) {
    const line = lines[at]!;
    if (at === begin || !underline.test(line)) continue;
    readUntil(at - 1);
    const level = line.includes('=') ? 1 : 2;
    blocks.push({ kind: 'heading', level, text: collapseWhitespace(lines[at - 1]!) });
    begin = at + 1;
  }
  readUntil(lines.length);
  return blocks;
}

/** A short line of capital letters; or a number and a title above its text. */
const capitals = /^(?=(?:[^\p{L}]*\p{L}){4})[^\p{Ll}]{4,80}$/u;
const numbered = /^((?:\d{1,2}\.)*\d{1,2})[.)]?\s+\p{Lu}[^.;!?:]{1,60}$/u;
/** The level of headings in capital letters; numbered ones are below. */
const capitalsLevel = 2;

/** The heading that the first of several lines is. */
function plainHeading([line = '', next = '']: readonly string[]): DocumentBlock | undefined {
  const text = collapseWhitespace(line);
  if (text.split(' ').length > maxTitleWords || /[.,;:!?]$/.test(text) || underline.test(next))
    return undefined;
  const number = numbered.exec(text)?.[1];
  if (number !== undefined && next !== '' && !listMarker.test(next) && !startsSmall(next))
    return { kind: 'heading', level: capitalsLevel + number.split('.').length, text };
  if (capitals.test(text) && !/[|=\t]/.test(line)) return { kind: 'heading', level: capitalsLevel, text };
  return undefined;
}

function startsSmall(line: string): boolean {
  return /^\s*[\p{Ll}(]/u.test(line);
}

/** Share of lines after another one that begin with a small letter, from which on a text counts as wrapped. */
const minSmallShare = 0.3;

/**
 * The margin of a text whose lines mostly go on in the next one, even where they do not fill it. Undefined for other
 * texts.
 */
function marginOf(groups: readonly string[][]): number | undefined {
  const further = groups.flatMap((lines) => lines.slice(1).filter((line) => !listMarker.test(line)));
  if (further.filter(startsSmall).length < further.length * minSmallShare) return undefined;
  const lengths = groups.flatMap((lines) => lines.slice(0, -1).map((line) => line.trimEnd().length));
  const margin = lengths.toSorted((one, other) => one - other)[Math.floor(lengths.length * 0.9)] ?? 0;
  return margin >= minMargin ? margin : undefined;
}

function joinWrapped(lines: string[], margin: number | undefined): DocumentBlock[] {
  const isContinuation = wrapTest(lines, margin);
  const blocks: DocumentBlock[] = [];
  lines.forEach((line, index) => {
    const before = blocks.at(-1);
    const isItem = listMarker.test(line);
    const text = collapseWhitespace(line.replace(bulletMarker, ''));
    if (before && !isItem && isContinuation(index)) before.text += ` ${text}`;
    else blocks.push({ kind: isItem ? 'list-item' : 'paragraph', text });
  });
  return blocks.filter((block) => block.text);
}

/** `Name: value` at the beginning of a line. */
const label = /^\s*\p{Lu}[\p{L} ]{0,25}:\s/u;

/**
 * Returns a test whether a line continues the previous one. Without a margin of the text, no line counts as wrapped
 * unless more than half of the lines were wrapped. With one, a line goes on that fills more than half of it.
 */
function wrapTest(lines: string[], margin: number | undefined): (index: number) => boolean {
  const width = lines.reduce((longest, line) => Math.max(longest, line.trimEnd().length), 0);
  const wrapped = lines.map((line, index) => index > 0 && wasWrapped(lines[index - 1] ?? '', line, width));
  const share = wrapped.filter(Boolean).length / Math.max(1, lines.length - 1);
  return (index) => {
    if (width >= minMargin && share > 0.5 && wrapped[index] === true) return true;
    const before = lines[index - 1];
    const line = lines[index];
    if (margin === undefined || before === undefined || line === undefined || label.test(line)) return false;
    return before.trimEnd().length > margin * (startsSmall(line) ? 0.4 : 0.6);
  };
}

function wasWrapped(line: string, next: string, width: number): boolean {
  const nextWord = /\S+/.exec(next)?.[0].length ?? 0;
  return line.trimEnd().length + 1 + nextWord > width;
}

/** The first level of headings by indentation. Underlined headings have levels 1 and 2. */
const firstLevel = 3;
const maxHeadingWords = 12;
/** Beginnings of lines that are not headings: list marks and markup. */
const noHeading = /^\s*(?:[-*•‣◦+<]\s|<\/?\w+[ >]|\d{1,3}[.)]\s)/;
/** Ends of lines that are not headings: punctuation, and ends of lines in programs. */
const openEnd = /[.,;:!?{([=\\|&]$/;
/** A short term, a gap, and the beginning of a text that continues on the next lines, as in manuals. */
const termAndText = /^(\s*)(\S+(?: \S+){0,2})(\s+)(?=\S)/;

/**
 * The outline of plain text by its indentation, as in manuals. A short line directly above lines with more indentation
 * is the heading of these lines and of all further lines with that indentation.
 */
class IndentedOutline {
  /** Indentation of the open headings, the outermost first. */
  readonly #open: number[] = [];

  /** `readLines` makes blocks from lines without headings by indentation. */
  constructor(private readonly readLines: (lines: string[]) => DocumentBlock[]) {}

  /** Reads lines between two blank lines. */
  read(lines: readonly string[]): DocumentBlock[] {
    const blocks: DocumentBlock[] = [];
    let pending: string[] = [];
    const flush = () => {
      if (pending.length > 0) for (const block of this.#readPending(pending)) blocks.push(block);
      pending = [];
    };
    const rest = [...lines];
    for (let at = 0; at < rest.length; at += 1) {
      const line = rest[at]!;
      const next = rest[at + 1];
      const term = next === undefined ? undefined : headingOf(line, next, pending.at(-1));
      if (!term) {
        pending.push(line);
        continue;
      }
      flush();
      blocks.push(this.#heading(term.text, indentOf(line)));
      if (term.rest === undefined) continue;
      // The text after the term is read as the next line.
      rest[at] = term.rest;
      at -= 1;
    }
    flush();
    return blocks;
  }

  #heading(text: string, indent: number): DocumentBlock {
    while (this.#open.length > 0 && this.#open.at(-1)! >= indent) this.#open.pop();
    this.#open.push(indent);
    return { kind: 'heading', level: firstLevel + this.#open.length - 1, text };
  }

  #readPending(lines: string[]): DocumentBlock[] {
    return [...this.#close(lines), ...this.readLines(lines)];
  }

  /** Returns an empty heading, which closes the open headings that have at least the indentation of these lines. */
  #close(lines: readonly string[]): DocumentBlock[] {
    const indent = lines.reduce((least, line) => Math.min(least, indentOf(line)), Infinity);
    const kept = this.#open.findIndex((open) => open >= indent);
    if (kept === -1) return [];
    this.#open.length = kept;
    return [{ kind: 'heading', level: firstLevel + kept, text: '', ends: true }];
  }
}

/**
 * The heading for the next line, if this line is one. `rest`: the text after a term on the same line, with the
 * indentation of the next line.
 */
function headingOf(
  line: string,
  next: string,
  before: string | undefined,
): { text: string; rest?: string } | undefined {
  const indent = indentOf(line);
  const deeper = indentOf(next);
  if (deeper < indent + 2 || noHeading.test(line)) return undefined;
  // After a line with the same or less indentation this line is part of a paragraph, not a heading.
  if (before !== undefined && indentOf(before) <= indent) return undefined;
  const nextWord = /\S+/.exec(next)?.[0].length ?? 0;
  const wasWrapped = line.trimEnd().length + 1 + nextWord > Math.max(next.trimEnd().length, 60);
  const [through = '', , term = '', gap = ''] = termAndText.exec(line) ?? [];
  if (through.length === deeper && (gap.length > 1 || (wasWrapped && !/^[\p{L}\p{N}]/u.test(term))))
    return { text: term, rest: ' '.repeat(deeper) + line.slice(deeper) };
  const text = collapseWhitespace(line);
  const isShort = text.split(' ').length <= maxHeadingWords;
  return isShort && !wasWrapped && !openEnd.test(text) ? { text } : undefined;
}

function indentOf(line: string): number {
  const blank = /^\s*/.exec(line)?.[0] ?? '';
  return blank.replaceAll('\t', '        ').length;
}
