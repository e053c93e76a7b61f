import { textOfLine } from './line-text.js';
import { rowsOf, type PageRow } from './page-rows.js';
import type { PageWord } from './upright.js';

/** Number of lines at the top and at the bottom of a page that may be headers or footers. */
const edgeLines = 2;
const minPages = 3;
const minShare = 0.6;
/** A wider gap, as a share of the font size, separates a header from the text below it. */
const minGap = 1.7;
/** Words with a wider gap between them are parts of a header of their own. */
const cellGap = 1.8;

/** An edge line without its page number, e.g. `Chapter 2` of `Chapter 2 … 17`. */
interface EdgeLine {
  row: PageRow;
  text: string;
  hasNumber: boolean;
}

/** The words of the pages without headers, footers and page numbers; and the texts of these. */
export interface PagesWithoutRunningLines {
  pages: PageWord[][];
  /** Headers and footers by pages. */
  running: string[][];
}

/**
 * Leaves page headers, footers and page numbers out: lines at the edge that occur at the same height on most pages. In a
 * document with page numbers it also leaves out the numbers, and a text next to a number if it occurs on several pages.
 * In a short document only lines like `Page 1 of 2` are left out.
 */
export function withoutRunningLines(pages: readonly PageWord[][]): PagesWithoutRunningLines {
  const edges = pages.map((words) => edgesOf(rowsOf(words)));
  const isRunning = pages.length < minPages ? isNumberOfPage : runningIn(edges, pages.length);
  const running = edges.map((lines) => lines.filter((line) => isRunning(line)));
  return {
    pages: pages.map((words, index) => {
      const dropped = new Set(running[index]!.flatMap(({ row }) => row.words));
      return dropped.size > 0 ? words.filter((word) => !dropped.has(word)) : words;
    }),
    running: running.map((lines) => lines.map(({ row }) => textOfLine(row.words, row))),
  };
}

function runningIn(edges: readonly EdgeLine[][], count: number): (line: EdgeLine) => boolean {
  const minCount = Math.max(minPages, count * minShare);
  const isNumbered = edges.filter((lines) => lines.some(({ hasNumber }) => hasNumber)).length >= minCount;
  const counts = countPages(edges);
  return (line) => {
    const pages = counts.get(keyOf(line)) ?? 0;
    return pages >= minCount || (isNumbered && line.hasNumber && (line.text === '' || pages > 1));
  };
}

function isNumberOfPage({ row, text, hasNumber }: EdgeLine): boolean {
  const whole = textOfLine(row.words, row);
  return (
    hasNumber &&
    text === '' &&
    /^\W*(?:(?:page|seite|p\.)\s*\d+|\d+\s*(?:of|\/|von)\s*\d+|[-–—]\s*\d+\s*[-–—])/i.test(whole)
  );
}

function countPages(edges: readonly EdgeLine[][]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const lines of edges) {
    for (const key of new Set(lines.map(keyOf))) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** Lines at the top and at the bottom that a gap separates from the text of the page. */
function edgesOf(rows: readonly PageRow[]): EdgeLine[] {
  const top = edgeRows(rows);
  const bottom = edgeRows(rows.toReversed());
  return [...new Set([...top, ...bottom])].map(toEdgeLine);
}

function edgeRows(rows: readonly PageRow[]): PageRow[] {
  for (let count = 1; count <= Math.min(edgeLines, rows.length - 1); count += 1) {
    const [last, next] = [rows[count - 1]!, rows[count]!];
    if (Math.abs(last.y - next.y) > minGap * Math.max(last.size, next.size)) return rows.slice(0, count);
  }
  return rows.length <= 1 ? [...rows] : [];
}

function toEdgeLine(row: PageRow): EdgeLine {
  const texts = cellsOf(row);
  const rest = texts.filter((text) => !isPageNumber(text));
  return { row, text: rest.join(' '), hasNumber: rest.length < texts.length };
}

function cellsOf(row: PageRow): string[] {
  const cells: PageWord[][] = [];
  let end = Infinity;
  for (const word of row.words) {
    if (cells.length === 0 || word.x - end > cellGap * word.size) cells.push([]);
    cells.at(-1)!.push(word);
    end = word.x + word.width;
  }
  return cells.map((words) => textOfLine(words, row));
}

function keyOf({ row, text }: EdgeLine): string {
  return `${Math.round(row.y)} ${text}`;
}

/** True for `3`, `iv`, `Page 3 of 9`; false for "Question 3". */
function isPageNumber(text: string): boolean {
  return /^\W*(?:(?:page|p\.|slide|seite)?\s*\d+(?:\s*(?:of|\/|von)\s*\d+)?|[ivxlc]+)\W*$/i.test(text);
}
