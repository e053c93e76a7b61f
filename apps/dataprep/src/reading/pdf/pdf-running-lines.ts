import type { PageLine } from './pdf-lines.js';

/** Lines at the top and bottom of a page that are looked at. */
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
 * Drops page headers, footers and page numbers: edge lines that come back at one height on most pages, and in a
 * document whose pages are numbered there, the numbers and what stands beside them on more than one page.
 */
export function dropRunningLines(pages: PageLine[][]): PageLine[][] {
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

/** `3`, `iv`, `Page 3 of 9`; "Question 3" is content. */
function isPageNumber(text: string): boolean {
  return /^\W*(?:(?:page|p\.|slide|seite)?\s*\d+(?:\s*(?:of|\/|von)\s*\d+)?|[ivxlc]+)\W*$/i.test(text);
}
