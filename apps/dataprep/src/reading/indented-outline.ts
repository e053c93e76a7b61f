import { collapseWhitespace } from './collapse-whitespace.js';
import type { DocumentBlock } from './parsed-document.js';

/** Underlined headings have levels 1 and 2. */
const firstLevel = 3;
const mostHeadingWords = 12;
/** Marks of lists, and beginnings of markup. */
const noHeading = /^\s*(?:[-*•‣◦+<]\s|<\/?\w+[ >]|\d{1,3}[.)]\s)/;
/** Ends of sentences, of parts of sentences and of lines of programs: a heading does not end so. */
const openEnd = /[.,;:!?{([=\\|&]$/;
/** A short term, a gap, and the beginning of the text that goes on in the next lines, as in manuals. */
const termAndText = /^(\s*)(\S+(?: \S+){0,2})(\s+)(?=\S)/;

/**
 * The outline of plain text by its indentation, as in manuals: a short line directly above deeper lines is the heading of
 * these lines, and of all further lines of that depth.
 */
export class IndentedOutline {
  /** Indentation of the open headings, the outermost first. */
  readonly #open: number[] = [];

  /** `readLines` makes blocks of lines among which there is not a heading by indentation. */
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
      // The text behind the term is read as the next line.
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

  /** An empty heading, which ends the open headings that are indented as deep as these lines, or deeper. */
  #close(lines: readonly string[]): DocumentBlock[] {
    const indent = lines.reduce((least, line) => Math.min(least, indentOf(line)), Infinity);
    const kept = this.#open.findIndex((open) => open >= indent);
    if (kept === -1) return [];
    this.#open.length = kept;
    return [{ kind: 'heading', level: firstLevel + kept, text: '', ends: true }];
  }
}

/**
 * The heading that a line is for the next line. `rest`: the text after a term on the same line, at the depth of the next
 * line.
 */
function headingOf(
  line: string,
  next: string,
  before: string | undefined,
): { text: string; rest?: string } | undefined {
  const indent = indentOf(line);
  const deeper = indentOf(next);
  if (deeper < indent + 2 || noHeading.test(line)) return undefined;
  // The first line of a paragraph may be less indented; other lines precede it then.
  if (before !== undefined && indentOf(before) <= indent) return undefined;
  const nextWord = /\S+/.exec(next)?.[0].length ?? 0;
  const wasWrapped = line.trimEnd().length + 1 + nextWord > Math.max(next.trimEnd().length, 60);
  const [through = '', , term = '', gap = ''] = termAndText.exec(line) ?? [];
  if (through.length === deeper && (gap.length > 1 || (wasWrapped && !/^[\p{L}\p{N}]/u.test(term))))
    return { text: term, rest: ' '.repeat(deeper) + line.slice(deeper) };
  const text = collapseWhitespace(line);
  const isShort = text.split(' ').length <= mostHeadingWords;
  return isShort && !wasWrapped && !openEnd.test(text) ? { text } : undefined;
}

function indentOf(line: string): number {
  const blank = /^\s*/.exec(line)?.[0] ?? '';
  return blank.replaceAll('\t', '        ').length;
}
