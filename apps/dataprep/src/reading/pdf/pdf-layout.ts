import { collapseWhitespace, type DocumentBlock } from '../parsed-document.js';

/** The dots between an entry of a table of contents and its page number. */
const dotLeader = /(?:\s?\.){4,}\s*/g;
const bullet = /^[•‣◦▪●–*-]\s+/;

/** Builds blocks from the text runs of all pages: lines, then headings by size, rows by gaps, paragraphs by spacing. */
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

/** Whether a line is close enough below the previous line to belong to its paragraph; distance in line heights. */
function isNear(before: PageLine, line: PageLine, heights: number): boolean {
  const distance = before.y - line.y;
  return before.page === line.page && distance >= 0 && distance <= Math.max(before.size, line.size) * heights;
}

/** Joins `trans-` and `port` to `transport`. A hyphen before a capital letter or a digit stays. */
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

/** A run of text on a page. Positions and sizes in points; y grows upwards. */
export interface TextRun {
  text: string;
  x: number;
  y: number;
  width: number;
  size: number;
  /** The text of the page has a line end after this run. */
  endsLine: boolean;
}

/** A line of a page. */
interface PageLine {
  /** Texts that a wide gap separates: more than one makes a row of a table. */
  cells: string[];
  x: number;
  y: number;
  size: number;
  page: number;
}

/** Joins the runs of a page into lines, in the order in which they are painted. */
function gatherLines(runs: TextRun[], page: number): PageLine[] {
  const lines: PageLine[] = [];
  let end = 0;
  let open = false;
  for (const [index, run] of runs.entries()) {
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
    open = !run.endsLine || isSameRow(run, runs[index + 1]);
  }
  return lines;
}

/** True if two runs have the same height: a line end between them is then the gap between two cells. */
function isSameRow(run: TextRun, next: TextRun | undefined): boolean {
  return next !== undefined && Math.abs(next.y - run.y) < 1;
}

function appendRun(line: PageLine, run: TextRun, gap: number): void {
  const last = line.cells.length - 1;
  if (gap > run.size * 1.8) line.cells.push(run.text);
  else line.cells[last] += (gap > run.size * 0.15 ? ' ' : '') + run.text;
  line.size = Math.max(line.size, round(run.size));
}

/** Rounds sizes to half a point, so that scaling does not turn one size into several. */
function round(size: number): number {
  return Math.round(size * 2) / 2;
}

/** Number of lines at the top and at the bottom of a page that may be headers or footers. */
const edgeLines = 2;
const leastPages = 3;
const leastShare = 0.6;

/** An edge line without its page number, e.g. `Chapter 2` of `Chapter 2 … 17`. */
interface EdgeLine {
  text: string;
  hasNumber: boolean;
  y: number;
}

/**
 * Drops page headers, footers and page numbers: lines at the edge that occur at the same height on most pages. In a
 * document with page numbers it also drops the numbers, and a text next to a number if it occurs on several pages.
 */
function dropRunningLines(pages: PageLine[][]): PageLine[][] {
  if (pages.length < leastPages) return pages;
  const least = Math.max(leastPages, pages.length * leastShare);
  const edges = pages.map((lines) => lines.filter((_line, index) => isAtEdge(index, lines)).map(toEdgeLine));
  const isNumbered = edges.filter((lines) => lines.some(({ hasNumber }) => hasNumber)).length >= least;
  const counts = countPages(edges);
  const isRunning = (line: EdgeLine) => {
    const count = counts.get(keyOf(line)) ?? 0;
    return count >= least || (isNumbered && line.hasNumber && (line.text === '' || count > 1));
  };
  return pages.map((lines) =>
    lines.filter((line, index) => !isAtEdge(index, lines) || !isRunning(toEdgeLine(line))),
  );
}

function countPages(edges: EdgeLine[][]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const lines of edges) {
    for (const key of new Set(lines.map(keyOf))) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

function isAtEdge(index: number, lines: PageLine[]): boolean {
  return index < edgeLines || index >= lines.length - edgeLines;
}

function toEdgeLine({ cells, y }: PageLine): EdgeLine {
  const texts = cells.map((cell) => cell.trim()).filter((cell) => cell && !isPageNumber(cell));
  return { text: texts.join(' '), hasNumber: cells.some((cell) => isPageNumber(cell.trim())), y };
}

function keyOf({ text, y }: EdgeLine): string {
  return `${Math.round(y)} ${text}`;
}

/** True for `3`, `iv`, `Page 3 of 9`; false for "Question 3". */
function isPageNumber(text: string): boolean {
  return /^\W*(?:(?:page|p\.|slide|seite)?\s*\d+(?:\s*(?:of|\/|von)\s*\d+)?|[ivxlc]+)\W*$/i.test(text);
}
