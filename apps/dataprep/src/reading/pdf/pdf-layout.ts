import { collapseWhitespace } from '../collapse-whitespace.js';
import type { DocumentBlock } from '../parsed-document.js';
import { gatherLines, type PageLine, type TextRun } from './pdf-lines.js';
import { dropRunningLines } from './pdf-running-lines.js';

/** Dots that lead the eye from an entry of a table of contents to its page. */
const dotLeader = /(?:\s?\.){4,}\s*/g;
const bullet = /^[•‣◦▪●–*-]\s+/;

/** Lays the runs of all pages out as blocks: lines, then headings by size, rows by gaps, paragraphs by spacing. */
export function layOutPages(pages: TextRun[][]): DocumentBlock[] {
  const lines = dropRunningLines(pages.map((runs, index) => gatherLines(runs, index + 1))).flat();
  const bodySize = commonestSize(lines);
  const headingSizes = [
    ...new Set(lines.map((line) => line.size).filter((size) => size > bodySize * 1.15)),
  ].sort((left, right) => right - left);
  return joinLines(lines, headingSizes);
}

function joinLines(lines: PageLine[], headingSizes: number[]): DocumentBlock[] {
  const blocks: DocumentBlock[] = [];
  lines.forEach((line, index) => {
    const before = lines[index - 1];
    const block = blocks.at(-1);
    const made = blockOf(line, headingSizes);
    if (before && block && continues(before, line, block, made))
      block.text = joinHyphenated(block.text, made.text);
    else blocks.push(made);
  });
  return blocks
    .map((block) => ({ ...block, text: collapseWhitespace(block.text.replaceAll(dotLeader, ' … ')) }))
    .filter((block) => block.text);
}

function blockOf(line: PageLine, headingSizes: number[]): DocumentBlock {
  const { page } = line;
  const whole = line.cells.join(' ');
  if (whole.search(dotLeader) > 0) return { kind: 'list-item', text: whole, page };
  const level = headingSizes.indexOf(line.size) + 1;
  if (level > 0) return { kind: 'heading', level: Math.min(level, 6), text: whole, page };
  const cells = line.cells.map((cell) => cell.trim()).filter(Boolean);
  if (cells.length > 1 && bullet.test(`${cells[0]} `)) cells.splice(0, 2, `${cells[0]} ${cells[1]}`);
  if (cells.length > 1) return { kind: 'table-row', text: cells.join('; '), page };
  const text = cells[0] ?? '';
  return bullet.test(text)
    ? { kind: 'list-item', text: text.replace(bullet, ''), page }
    : { kind: 'paragraph', text, page };
}

function continues(before: PageLine, line: PageLine, block: DocumentBlock, made: DocumentBlock): boolean {
  if (made.kind === 'heading')
    return block.kind === 'heading' && before.size === line.size && isNear(before, line, 1.9);
  if (made.kind !== 'paragraph' || (block.kind !== 'paragraph' && block.kind !== 'list-item')) return false;
  if (before.page !== line.page || line.y > before.y)
    return !endsSentence(block.text) && !/^\p{Lu}/u.test(made.text);
  return isNear(before, line, 1.7);
}

/** The next line of a paragraph lies close below the one before it; distance in line heights. */
function isNear(before: PageLine, line: PageLine, heights: number): boolean {
  const distance = before.y - line.y;
  return before.page === line.page && distance >= 0 && distance <= Math.max(before.size, line.size) * heights;
}

/** `trans-` + `port` → `transport`; a hyphen before a capital or digit stays. */
function joinHyphenated(text: string, next: string): string {
  const trimmed = text.trimEnd();
  if (/\p{L}[-\u00ad\u2010]$/u.test(trimmed) && /^\p{Ll}/u.test(next)) return trimmed.slice(0, -1) + next;
  return `${trimmed} ${next}`;
}

function endsSentence(text: string): boolean {
  return /[.!?:。！？]["'”’)]*\s*$/.test(text);
}

function commonestSize(lines: PageLine[]): number {
  const letters = new Map<number, number>();
  for (const line of lines)
    letters.set(line.size, (letters.get(line.size) ?? 0) + line.cells.join('').length);
  return [...letters].reduce((best, next) => (next[1] > best[1] ? next : best), [0, 0])[0];
}
