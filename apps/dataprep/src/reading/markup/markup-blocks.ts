import {
  collapseWhitespace,
  tidyLines,
  type BlockKind,
  type DocumentBlock,
  type ParsedDocument,
  type ReadingWarning,
} from '../parsed-document.js';
import type { SourceTable } from '../tables/table-grid.js';
import { tableBlocks } from '../tables/table-rows.js';

/** Limit for the included files that are named one by one. */
const maxIncludesNamed = 20;

/** Collects the blocks of a text with markup line by line. */
export class MarkupBlocks {
  readonly #blocks: DocumentBlock[] = [];
  readonly #includes: string[] = [];
  #kind: BlockKind = 'paragraph';
  #lines: string[] = [];
  /** What the text says about itself. */
  readonly facts: { title?: string; date?: string } = {};

  /** `inline` returns the text of a piece of markup, as its readers see it. */
  constructor(private readonly inline: (markup: string) => string) {}

  /** Whether a block is open, which a further line goes on. */
  get isOpen(): boolean {
    return this.#lines.length > 0;
  }

  /** Ends the open block and begins one of this kind. */
  begin(kind: BlockKind, line: string): void {
    this.end();
    this.#kind = kind;
    this.#lines = [line];
  }

  /** Adds a line to the open block, or begins a paragraph. */
  add(line: string): void {
    if (this.isOpen) this.#lines.push(line);
    else this.begin('paragraph', line);
  }

  /** Takes the last line of the open block back. */
  takeBack(): void {
    this.#lines.pop();
  }

  /** Ends the open block. */
  end(): void {
    if (!this.isOpen) return;
    const text = this.textOf(this.#lines.join('\n'));
    if (text !== '') this.#blocks.push({ kind: this.#kind, text });
    this.#lines = [];
    this.#kind = 'paragraph';
  }

  /** A block of one line. */
  line(kind: BlockKind, line: string): void {
    this.begin(kind, line);
    this.end();
  }

  heading(level: number, markup: string): void {
    this.end();
    const text = this.textOf(markup);
    if (text !== '') this.#blocks.push({ kind: 'heading', level, text });
  }

  code(lines: readonly string[]): void {
    this.end();
    const text = tidyLines(withoutIndent(lines).join('\n'));
    if (text !== '') this.#blocks.push({ kind: 'code', text });
  }

  /** The cells are markup. */
  table(table: SourceTable): void {
    this.end();
    const rows = table.rows.map((cells) =>
      cells.map((cell) =>
        typeof cell === 'string' ? this.textOf(cell) : { ...cell, text: this.textOf(cell.text) },
      ),
    );
    for (const block of tableBlocks({ ...table, rows })) this.#blocks.push(block);
  }

  /** Blocks that another reader made. */
  push(blocks: readonly DocumentBlock[]): void {
    this.end();
    for (const block of blocks) this.#blocks.push(block);
  }

  /** Notes a file that the text includes. It is not read: it is not a part of the document that was sent. */
  include(path: string): void {
    this.end();
    this.#includes.push(path.trim());
  }

  /** Ends the document. */
  document(): ParsedDocument {
    this.end();
    const warnings = this.#includes.slice(0, maxIncludesNamed).map((path): ReadingWarning => ({
      code: 'include_skipped',
      message: `The file ${path}, which the text includes, was not read.`,
    }));
    const others = this.#includes.length - warnings.length;
    if (others > 0)
      warnings.push({
        code: 'include_skipped',
        message: `Further included files that were not read: ${others}.`,
      });
    return {
      ...this.facts,
      blocks: this.#blocks,
      ...(warnings.length > 0 && { warnings }),
    };
  }

  textOf(markup: string): string {
    return collapseWhitespace(this.inline(markup));
  }
}

/** Number of blanks at the beginning of a line. */
export function indentOf(line: string): number {
  return /^[ \t]*/.exec(line)![0].replaceAll('\t', '        ').length;
}

/** Removes the indentation that all lines have. */
export function withoutIndent(lines: readonly string[]): string[] {
  const own = lines.map((line) => line.replaceAll('\t', '        '));
  const minIndent = own.reduce(
    (min, line) => (line.trim() === '' ? min : Math.min(min, indentOf(line))),
    Infinity,
  );
  return own.map((line) => line.slice(Number.isFinite(minIndent) ? minIndent : 0));
}

/** The lines of a text. */
export function linesOf(source: string): string[] {
  return source.replace(/^\uFEFF/, '').split(/\r\n?|\n/);
}
