import { bandFrom, inColumns, isJustifiedText, type Band } from './bands.js';
import { rowsOf, type PageRow } from './page-rows.js';
import { areColumnsOfText } from './text-columns.js';
import { tableOfBand } from './unruled-tables.js';
import type { PageTable, PageWord } from './upright.js';

/** A line of text, or a table, in reading order. */
export interface PageLine extends PageRow {
  table?: PageTable;
  /** Left and right border of the text around it. */
  left: number;
  right: number;
}

/** Limit for columns within columns. */
const maxDepth = 6;

/** Brings the words of a region into reading order: columns one after the other, tables as one element. */
export function readRegion(words: readonly PageWord[], depth = 0): PageLine[] {
  const rows = rowsOf(words);
  const borders = bordersOf(words);
  const lines: PageLine[] = [];
  for (let at = 0; at < rows.length;) {
    const band = depth < maxDepth ? bandFrom(rows, at) : undefined;
    const read = band && readBand(band, depth);
    lines.push(...(read?.lines ?? [lineOf(rows[at]!, borders)]));
    at = read?.end ?? at + 1;
  }
  return lines;
}

type Borders = Pick<PageLine, 'left' | 'right'>;

function bordersOf(words: readonly PageWord[]): Borders {
  let [left, right] = [Infinity, -Infinity];
  for (const { x, width } of words) {
    left = Math.min(left, x);
    right = Math.max(right, x + width);
  }
  return { left, right };
}

function lineOf(row: PageRow, borders: Borders): PageLine {
  const table = row.words.length === 1 ? row.words[0]?.table : undefined;
  return { ...row, ...borders, ...(table && { table }) };
}

/** The lines of a band, and the index of the row below them; undefined if its rows are plain lines. */
function readBand(band: Band, depth: number): { lines: PageLine[]; end: number } | undefined {
  if (areColumnsOfText(band)) {
    const all = [...band.before, ...band.rows, ...band.after].flatMap((row) => row.words);
    const columns = inColumns(all, band.gutters);
    return { lines: columns.flatMap((column) => readRegion(column, depth + 1)), end: band.end };
  }
  const table = isJustifiedText(band) ? undefined : tableOfBand(band);
  if (!table) return undefined;
  const borders = bordersOf(band.rows.flatMap((row) => row.words));
  const lines = band.before.map((row) => lineOf(row, borders));
  return {
    lines: [...lines, { ...lineOf(band.rows[0]!, borders), table }],
    end: band.end - band.after.length,
  };
}
