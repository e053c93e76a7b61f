import { collapseWhitespace } from './collapse-whitespace.js';
import type { DocumentBlock } from './parsed-document.js';

/** Underlined headings have the levels above. */
const firstLevel = 3;
const mostHeadingWords = 12;
/** Marks of lists, and what begins markup. */
const noHeading = /^\s*(?:[-*•‣◦+<]\s|<\/?\w+[ >]|\d{1,3}[.)]\s)/;
/** A heading does not end as a sentence, a part of one, or a line of a program does. */
const openEnd = /[.,;:!?{([=\\|&]$/;
/** A short term, a gap, and the text that the next lines go on with, as manuals set short terms. */
const termAndText = /^(\s*)(\S+(?: \S+){0,2})(\s+)(?=\S)/;

/**
 * The outline that indentation gives plain text, as in manuals: a short line that stands directly above deeper ones is the
 * heading of these and of all that follows as deep.
 */
export class IndentedOutline {
  /** Indentation of the headings that are open, the outermost first. */
  readonly #open: number[] = [];

  /** @param readLines Reads lines that have no such heading among them. */
  constructor(private readonly readLines: (lines: string[]) => DocumentBlock[]) {}

  /** Reads lines that no blank one parts. */
  read(lines: readonly string[]): DocumentBlock[] {
    const blocks: DocumentBlock[] = [];
    let pending: string[] = [];
    const flush = () => {
      if (pending.length > 0) blocks.push(...this.#close(pending), ...this.readLines(pending));
      pending = [];
    };
    const rest = [...lines];
    for (let line = rest.shift(); line !== undefined; line = rest.shift()) {
      const next = rest[0];
      const term = next === undefined ? undefined : headingOf(line, next, pending.at(-1));
      if (!term) {
        pending.push(line);
        continue;
      }
      flush();
      blocks.push(this.#heading(term.text, indentOf(line)));
      if (term.rest !== undefined) rest.unshift(term.rest);
    }
    flush();
    return blocks;
  }

  #heading(text: string, indent: number): DocumentBlock {
    while (this.#open.length > 0 && this.#open.at(-1)! >= indent) this.#open.pop();
    this.#open.push(indent);
    return { kind: 'heading', level: firstLevel + this.#open.length - 1, text };
  }

  /** An empty heading ends those that these lines do not stand deeper than. */
  #close(lines: readonly string[]): DocumentBlock[] {
    const indent = Math.min(...lines.map(indentOf));
    const kept = this.#open.findIndex((open) => open >= indent);
    if (kept === -1) return [];
    this.#open.length = kept;
    return [{ kind: 'heading', level: firstLevel + kept, text: '', ends: true }];
  }
}

/** The heading that a line is above the next one; `rest` is the text behind a term on the same line, set as deep. */
function headingOf(
  line: string,
  next: string,
  before: string | undefined,
): { text: string; rest?: string } | undefined {
  const indent = indentOf(line);
  const deeper = indentOf(next);
  if (deeper < indent + 2 || noHeading.test(line)) return undefined;
  // The first line of a paragraph may be set out, and stands behind other lines then.
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
