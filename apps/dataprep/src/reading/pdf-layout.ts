import { collapseWhitespace } from './collapse-whitespace.js';
import type { DocumentBlock } from './parsed-document.js';

/** A run of text as a page paints it. Positions and sizes in points; y grows upwards. */
export interface TextRun {
  text: string;
  x: number;
  y: number;
  width: number;
  size: number;
  endsLine: boolean;
}

interface Line {
  /** Texts that a wide gap separates: more than one makes a row of a table. */
  cells: string[];
  x: number;
  y: number;
  size: number;
  page: number;
}

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

function gatherLines(runs: TextRun[], page: number): Line[] {
  const lines: Line[] = [];
  let end = 0;
  let open = false;
  for (const run of runs) {
    const line = lines.at(-1);
    const sameLine = open && line && Math.abs(line.y - run.y) < Math.max(run.size, line.size) * 0.5;
    if (!run.text.trim()) {
      if (sameLine && line.cells.length > 0) line.cells[line.cells.length - 1] += ' ';
    } else if (sameLine) {
      appendRun(line, run, run.x - end);
      end = run.x + run.width;
    } else {
      lines.push({ cells: [run.text], x: run.x, y: run.y, size: round(run.size), page });
      end = run.x + run.width;
    }
    open = !run.endsLine || isSameRow(runs, run);
  }
  return lines;
}

/** A line end between two runs at one height is the gap between two cells. */
function isSameRow(runs: TextRun[], run: TextRun): boolean {
  const next = runs[runs.indexOf(run) + 1];
  return next !== undefined && Math.abs(next.y - run.y) < 1;
}

function appendRun(line: Line, run: TextRun, gap: number): void {
  const last = line.cells.length - 1;
  if (gap > run.size * 1.8) line.cells.push(run.text);
  else line.cells[last] += (gap > run.size * 0.15 ? ' ' : '') + run.text;
  line.size = Math.max(line.size, round(run.size));
}

/** Page headers and footers: lines that come back at one height on at least three pages and most of them. */
function dropRunningLines(pages: Line[][]): Line[][] {
  if (pages.length < 3) return pages;
  const key = (line: Line) => `${Math.round(line.y)} ${withoutPageNumber(line.cells.join(' ').trim())}`;
  const counts = new Map<string, number>();
  for (const lines of pages) {
    for (const seen of new Set(lines.map(key))) counts.set(seen, (counts.get(seen) ?? 0) + 1);
  }
  const least = Math.max(3, pages.length * 0.6);
  return pages.map((lines) =>
    lines.filter((line, index) => {
      const atEdge = index < 2 || index >= lines.length - 2;
      return !atEdge || (counts.get(key(line)) ?? 0) < least;
    }),
  );
}

/** `Page 3 of 9` → `page #`; anything else stays as it is, since "Question 3" is content. */
function withoutPageNumber(text: string): string {
  return /^\W*(page|p\.|slide|seite)?\s*\d+(\s*(of|\/|von)\s*\d+)?\W*$/i.test(text) ? 'page #' : text;
}

function joinLines(lines: Line[], headingSizes: number[]): DocumentBlock[] {
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
    .map((block) => ({ ...block, text: collapseWhitespace(block.text) }))
    .filter((block) => block.text);
}

function blockOf(line: Line, headingSizes: number[]): DocumentBlock {
  const { page } = line;
  const level = headingSizes.indexOf(line.size) + 1;
  if (level > 0) return { kind: 'heading', level: Math.min(level, 6), text: line.cells.join(' '), page };
  const cells = line.cells.map((cell) => cell.trim()).filter(Boolean);
  if (cells.length > 1 && bullet.test(`${cells[0]} `)) cells.splice(0, 2, `${cells[0]} ${cells[1]}`);
  if (cells.length > 1) return { kind: 'table-row', text: cells.join('; '), page };
  const text = cells[0] ?? '';
  return bullet.test(text)
    ? { kind: 'list-item', text: text.replace(bullet, ''), page }
    : { kind: 'paragraph', text, page };
}

function continues(before: Line, line: Line, block: DocumentBlock, made: DocumentBlock): boolean {
  if (made.kind === 'heading')
    return block.kind === 'heading' && before.size === line.size && isNear(before, line, 1.9);
  if (made.kind !== 'paragraph' || (block.kind !== 'paragraph' && block.kind !== 'list-item')) return false;
  if (before.page !== line.page || line.y > before.y)
    return !endsSentence(block.text) && !/^\p{Lu}/u.test(made.text);
  return isNear(before, line, 1.7);
}

/** The next line of a paragraph lies close below the one before it; distance in line heights. */
function isNear(before: Line, line: Line, heights: number): boolean {
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

function commonestSize(lines: Line[]): number {
  const letters = new Map<number, number>();
  for (const line of lines)
    letters.set(line.size, (letters.get(line.size) ?? 0) + line.cells.join('').length);
  return [...letters].reduce((best, next) => (next[1] > best[1] ? next : best), [0, 0])[0];
}

function round(size: number): number {
  return Math.round(size * 2) / 2;
}
