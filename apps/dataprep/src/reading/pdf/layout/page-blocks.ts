import { collapseWhitespace, type DocumentBlock } from '../../parsed-document.js';
import { textOfLine } from './line-text.js';
import { placeNotes } from './footnotes.js';
import type { LocatedTable, SizedBlock } from './page-parts.js';
import type { PageLine } from './regions.js';
import { blocksOfTables, joinTables } from './table-blocks.js';

/** The dots between an entry of a table of contents and its page number. */
const dotLeader = /(?:\s?\.){4,}\s*/g;
const bullet = /^[•‣◦▪●–*\-\uf0b7]\s+/;

/** A line of a document with its text. */
export interface TextLine extends Omit<PageLine, 'words'> {
  text: string;
  page: number;
  isBold: boolean;
  x: number;
  /** The line ends with the value of a form field, or consists of values. */
  field?: 'last' | 'all';
}

/** Builds blocks from the lines of all pages: headings by size, paragraphs by spacing, tables, notes at their places. */
export function blocksOfLines(pages: readonly PageLine[][]): DocumentBlock[] {
  const lines = pages.flatMap((page, index) => page.map((line) => toTextLine(line, index + 1)));
  const bodySize = commonestSize(lines);
  const headingSizes = [
    ...new Set(
      lines
        .filter(({ table }) => !table)
        .map((line) => line.size)
        .filter((size) => size > bodySize * 1.15),
    ),
  ].sort((left, right) => right - left);
  return placeNotes(joinLines(lines, headingSizes), bodySize).flatMap((part) =>
    'table' in part ? blocksOfTables(part) : [blockOf(part)],
  );
}

function toTextLine({ words, ...line }: PageLine, page: number): TextLine {
  const text = line.table ? '' : collapseWhitespace(textOfLine(words, line));
  const isBold = words.every((word) => word.isBold);
  const field = words.every((word) => word.isField) ? 'all' : words.at(-1)?.isField ? 'last' : undefined;
  return {
    ...line,
    size: round(line.size),
    text,
    page,
    isBold,
    x: words[0]?.x ?? 0,
    ...(field && { field }),
  };
}

function blockOf({ size: _size, ...block }: SizedBlock): DocumentBlock {
  return { ...block, text: collapseWhitespace(block.text.replaceAll(dotLeader, ' … ')) };
}

function joinLines(lines: readonly TextLine[], headingSizes: number[]): (SizedBlock | LocatedTable)[] {
  const parts: (SizedBlock | LocatedTable)[] = [];
  let before: TextLine | undefined;
  for (const line of lines) {
    if (line.table) {
      const above = parts.at(-1);
      const table: LocatedTable = { table: line.table, page: line.page };
      if (!(above && 'table' in above && joinTables(above, table))) parts.push(table);
    } else if (line.text) {
      const block = parts.at(-1);
      const made = blockOfLine(line, headingSizes);
      if (before && block && !('table' in block) && isLabelOf(before, line, block)) {
        block.kind = 'form-field';
        block.text = `${block.text.replace(/\s*:$/, '')}: ${made.text}`;
      } else if (before && block && !('table' in block) && continues(before, line, block, made))
        block.text = joinHyphenated(block.text, made.text);
      else parts.push(made);
    } else continue;
    before = line;
  }
  return parts;
}

function blockOfLine({ page, text, size, field }: TextLine, headingSizes: number[]): SizedBlock {
  if (field) return { kind: 'form-field', text, page, size };
  if (text.search(dotLeader) > 0) return { kind: 'list-item', text, page, size };
  const level = headingSizes.indexOf(size) + 1;
  if (level > 0 && /\p{L}/u.test(text))
    return { kind: 'heading', level: Math.min(level, 6), text, page, size };
  return bullet.test(text)
    ? { kind: 'list-item', text: text.replace(bullet, ''), page, size }
    : { kind: 'paragraph', text, page, size };
}

function continues(before: TextLine, line: TextLine, block: SizedBlock, made: SizedBlock): boolean {
  if (made.kind === 'heading')
    return block.kind === 'heading' && before.size === line.size && isNear(before, line, 1.9);
  if (made.kind !== 'paragraph' || (block.kind !== 'paragraph' && block.kind !== 'list-item')) return false;
  if (before.page !== line.page || line.y > before.y)
    return before.size === line.size && !endsSentence(block.text) && !/^\p{Lu}/u.test(made.text);
  if (Math.abs(before.size - line.size) > 0.12 * Math.max(before.size, line.size)) return false;
  return isNear(before, line, 1.7) && !isIndented(before, line) && before.isBold === line.isBold;
}

const maxLabelWords = 8;

/** Whether a line is the label of the field below it. */
function isLabelOf(before: TextLine, line: TextLine, { kind, text }: SizedBlock): boolean {
  const isShort = text.split(' ').length <= maxLabelWords && !/[.!?]$/.test(text);
  return (
    line.field === 'all' && !before.field && kind === 'paragraph' && isShort && isNear(before, line, 2.2)
  );
}

/** Whether a line begins a paragraph by its indent: the lines around it begin at the left border. */
function isIndented(before: TextLine, line: TextLine): boolean {
  const indent = line.x - line.left;
  return (
    endsSentence(before.text) &&
    indent > line.size &&
    indent < 4 * line.size &&
    before.x - before.left < 0.3 * line.size
  );
}

/** Whether a line is close enough below the previous line to belong to its paragraph; distance in line heights. */
function isNear(before: TextLine, line: TextLine, heights: number): boolean {
  const distance = before.y - line.y;
  return before.page === line.page && distance >= 0 && distance <= Math.max(before.size, line.size) * heights;
}

/** Joins `trans-` and `port` to `transport`. A hyphen before a capital letter or a digit stays. */
function joinHyphenated(text: string, next: string): string {
  const trimmed = text.trimEnd();
  if (/\p{L}[-\u00ad\u2010]$/u.test(trimmed) && /^\p{Ll}/u.test(next)) return trimmed.slice(0, -1) + next;
  const isUnspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}，。、：；]$/u.test(trimmed);
  const glue = isUnspaced && /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(next) ? '' : ' ';
  return `${trimmed}${glue}${next}`;
}

function endsSentence(text: string): boolean {
  return /[.!?:。！？]["'”’)]*\s*$/.test(text);
}

function commonestSize(lines: readonly TextLine[]): number {
  const letters = new Map<number, number>();
  for (const line of lines) letters.set(line.size, (letters.get(line.size) ?? 0) + line.text.length);
  return [...letters].reduce((best, next) => (next[1] > best[1] ? next : best), [0, 0])[0];
}

/** Rounds sizes to half a point, so that scaling does not turn one size into several. */
function round(size: number): number {
  return Math.round(size * 2) / 2;
}
