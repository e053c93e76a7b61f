import type { PageRow } from './page-rows.js';
import type { PageWord } from './upright.js';

/** A white strip from the top to the bottom of several rows. */
export interface Gutter {
  left: number;
  right: number;
}

/** Minimum width of a gutter, as a share of the font size; narrow ones need columns that are exactly aligned. */
const wide = 0.9;
const narrow = 0.3;
/** Fewer rows with narrow gutters are aligned by chance. */
const minNarrowRows = 4;
/** Distance between two lines of a cell, as a multiple of the font size. */
const maxLeading = 1.5;
/** Share of the rows that have words on both sides: cells with several lines leave rows without. */
const minShared = 0.4;
/** Share of the cells of a narrow column that begin or end at its border. */
const minAligned = 0.6;
/** So many rows at most may come before the first one with words on both sides of a gutter. */
const maxOpenRows = 8;

/** Rows that share gutters. */
export interface Band {
  rows: PageRow[];
  gutters: Gutter[];
  /** Rows at the edges of the band that are not a part of its table. */
  before: PageRow[];
  after: PageRow[];
  /** Index of the first row below the band. */
  end: number;
}

/** The words of each column. */
export function inColumns(words: readonly PageWord[], gutters: readonly Gutter[]): PageWord[][] {
  const columns: PageWord[][] = Array.from({ length: gutters.length + 1 }, () => []);
  for (const word of words) columns[columnOf(word, gutters)]!.push(word);
  return columns;
}

/** Index of the column that contains the middle of a word. */
export function columnOf({ x, width }: PageWord, gutters: readonly Gutter[]): number {
  return gutters.filter(({ left, right }) => (left + right) / 2 < x + width / 2).length;
}

/** The band that begins at a row; of one with wide and one with narrow gutters the one with more cells. */
export function bandFrom(rows: readonly PageRow[], start: number): Band | undefined {
  const [ofWide, ofNarrow] = [bandWith(rows, start, wide), bandWith(rows, start, narrow)];
  const band = !ofWide || (ofNarrow && hasMore(ofNarrow, ofWide)) ? ofNarrow : ofWide;
  return band && beginsLater(rows, start, band) ? undefined : band;
}

/** A long cell leaves little white beside it, so that wide gutters end at its row. */
const hasMore = (one: Band, other: Band) =>
  one.gutters.length >= other.gutters.length && cellsOf(one) > cellsOf(other);
const cellsOf = ({ rows, gutters }: Band) => rows.length * (gutters.length + 1);

/** Whether lines of text stand before a table: by chance their words leave white where the table has a gutter. */
function beginsLater(rows: readonly PageRow[], start: number, band: Band): boolean {
  const last = Math.min(start + maxOpenRows, band.end - minNarrowRows);
  for (let later = start + 1; later <= last; later += 1) {
    const others = [bandWith(rows, later, wide), bandWith(rows, later, narrow)];
    if (others.some((other) => other && cellsOf(other) > cellsOf(band))) return true;
  }
  return false;
}

function bandWith(rows: readonly PageRow[], start: number, minWidth: number): Band | undefined {
  let free: readonly Gutter[] = [{ left: -Infinity, right: Infinity }];
  let best: { end: number; gutters: readonly Gutter[] } | undefined;
  let maxCells = 0;
  let shared = 0;
  let [minEnd, maxStart] = [Infinity, -Infinity];
  for (let end = start; end < rows.length; end += 1) {
    const row = rows[end]!;
    const white = whiteOf(row);
    free = intersect(free, white.gaps, minWidth * row.size);
    minEnd = Math.min(minEnd, white.minEnd);
    maxStart = Math.max(maxStart, white.maxStart);
    const inner = free.filter(({ left, right }) => minEnd <= left + 0.1 && maxStart >= right - 0.1);
    if (inner.length === 0) {
      // Gutters that were between words stay between words: without any of them the band ends.
      if (best || end - start > maxOpenRows) break;
      continue;
    }
    if (inner.some((gutter) => isShared(row, gutter))) shared += 1;
    const isBand = shared > 1 || inner.some((gutter) => areSideBySide(rows.slice(start, end + 1), gutter));
    if (minWidth === narrow && best && inner.length < best.gutters.length && isTable(rows, start, best))
      break;
    const cells = (end + 1 - start) * (inner.length + 1);
    // Below a table the words of a text leave narrow white by chance.
    if (!isBand || (minWidth === narrow && cells < maxCells)) continue;
    best = { end: end + 1, gutters: inner };
    maxCells = cells;
  }
  if (!best) return undefined;
  const band = trimmed(rows.slice(start, best.end), best.gutters, best.end);
  if (minWidth === wide) return withNarrowGutters(band);
  const gutters = band.gutters.filter((gutter) => isAligned(band.rows, gutter));
  return gutters.length > 0 && band.rows.length >= minNarrowRows ? { ...band, gutters } : undefined;
}

/** Whether the columns of all gutters are exactly aligned. */
function isTable(
  rows: readonly PageRow[],
  start: number,
  { end, gutters }: { end: number; gutters: readonly Gutter[] },
): boolean {
  return gutters.every((gutter) => isAligned(rows.slice(start, end), gutter));
}

/** Adds narrow gutters with exactly aligned columns to wide ones. */
function withNarrowGutters(band: Band): Band {
  if (band.rows.length < minNarrowRows) return band;
  const size = Math.max(...band.rows.map((row) => row.size));
  const all = band.rows.reduce(
    (free: readonly Gutter[], row) => intersect(free, whiteOf(row).gaps, narrow * size),
    [{ left: -Infinity, right: Infinity }],
  );
  const gutters = innerGutters(band.rows, all).filter(
    (gutter) => gutter.right - gutter.left >= wide * size || isAligned(band.rows, gutter),
  );
  return gutters.length >= band.gutters.length ? { ...band, gutters } : band;
}

/** Leaves out rows at the edges that have words on one side of the gutters only. */
function trimmed(rows: PageRow[], inner: readonly Gutter[], end: number): Band {
  const gutters = [...inner];
  const isInner = (row: PageRow) => gutters.some((gutter) => isShared(row, gutter));
  const first = rows.findIndex(isInner);
  if (first === -1) return { rows, before: [], after: [], gutters, end };
  const last = lastOfCells(rows, rows.findLastIndex(isInner), gutters);
  return {
    rows: rows.slice(first, last + 1),
    before: rows.slice(0, first),
    after: rows.slice(last + 1),
    gutters,
    end,
  };
}

/** The last of the rows below that are further lines of a cell: behind the first gutter, and as near as lines are. */
function lastOfCells(rows: readonly PageRow[], shared: number, [gutter]: readonly Gutter[]): number {
  const isRest = (row: PageRow, index: number) =>
    gutter !== undefined &&
    row.words.every(({ x }) => x >= gutter.right - 0.1) &&
    rows[shared + index]!.y - row.y <= maxLeading * row.size;
  const below = rows.slice(shared + 1);
  const other = below.findIndex((row, index) => !isRest(row, index));
  return other === -1 ? rows.length - 1 : shared + other;
}

/** Whether a row has words on both sides of a gutter. */
function isShared({ words }: PageRow, { left, right }: Gutter): boolean {
  return (
    words.some((word) => word.x + word.width <= left + 0.1) && words.some((word) => word.x >= right - 0.1)
  );
}

/** The number of rows at the heights of others. */
const within = (some: readonly PageRow[], others: readonly PageRow[]) =>
  some.filter(({ y }) => y <= (others[0]?.y ?? 0) && y >= (others.at(-1)?.y ?? 0)).length;

/** Whether two lines or more on each side of a gutter are at the same heights, without being on the same lines. */
function areSideBySide(rows: readonly PageRow[], { left, right }: Gutter): boolean {
  const before = rows.filter(({ words }) => words.every((word) => word.x + word.width <= left + 0.1));
  const after = rows.filter(({ words }) => words.every((word) => word.x >= right - 0.1));
  return within(before, after) > 1 && within(after, before) > 1;
}

function innerGutters(rows: readonly PageRow[], gutters: readonly Gutter[]): Gutter[] {
  const white = rows.map(whiteOf);
  const minEnd = Math.min(...white.map((each) => each.minEnd));
  const maxStart = Math.max(...white.map((each) => each.maxStart));
  return gutters.filter(({ left, right }) => minEnd <= left + 0.1 && maxStart >= right - 0.1);
}

/** The white between the words of a row and at both sides of it; where its first word ends, and its last one begins. */
interface White {
  gaps: Gutter[];
  minEnd: number;
  maxStart: number;
}

const known = new WeakMap<PageRow, White>();

function whiteOf(row: PageRow): White {
  const before = known.get(row);
  if (before) return before;
  const gaps: Gutter[] = [];
  let end = -Infinity;
  for (const { x, width } of row.words) {
    if (x > end) gaps.push({ left: end, right: x });
    end = Math.max(end, x + width);
  }
  gaps.push({ left: end, right: Infinity });
  const minEnd = Math.min(...row.words.map(({ x, width }) => x + width));
  const white = { gaps, minEnd, maxStart: row.words.at(-1)?.x ?? -Infinity };
  known.set(row, white);
  return white;
}

/** The parts that two lists of white strips, from left to right, have in common. */
function intersect(some: readonly Gutter[], others: readonly Gutter[], minWidth: number): Gutter[] {
  const common: Gutter[] = [];
  for (let at = 0, next = 0; at < some.length && next < others.length;) {
    const [one, other] = [some[at]!, others[next]!];
    const left = Math.max(one.left, other.left);
    const right = Math.min(one.right, other.right);
    if (right - left >= minWidth) common.push({ left, right });
    if (one.right < other.right) at += 1;
    else next += 1;
  }
  return common;
}

/** Whether the words right of a gutter begin, or those left of it end, at one place in all rows. */
function isAligned(rows: readonly PageRow[], gutter: Gutter): boolean {
  const both = rows.filter((row) => isShared(row, gutter));
  if (both.length < minNarrowRows || both.length < rows.length * minShared) return false;
  const begins = both.map(({ words }) =>
    Math.min(...words.map(({ x }) => x).filter((x) => x >= gutter.right - 0.1)),
  );
  const ends = both.map(({ words }) =>
    Math.max(...words.map(({ x, width }) => x + width).filter((x) => x <= gutter.left + 0.1)),
  );
  return areAt(Math.min(...begins), begins) || areAt(Math.max(...ends), ends);
}

/** Limit for a gap of justified text, as a multiple of the widest other gap of its line. */
const maxStretch = 1.2;

/** Whether lines of justified text leave white below each other by chance: other gaps of each line are as wide. */
export function isJustifiedText({ rows, gutters }: Band): boolean {
  return rows.every((row) => {
    const gaps = whiteOf(row).gaps.slice(1, -1);
    const between = gaps.filter((gap) => isIn(gap, gutters));
    const others = gaps.filter((gap) => !isIn(gap, gutters));
    return maxWidth(between) <= maxStretch * maxWidth(others);
  });
}

const isIn = (gap: Gutter, gutters: readonly Gutter[]) =>
  gutters.some(({ left, right }) => gap.left < right && gap.right > left);
const maxWidth = (gaps: readonly Gutter[]) => Math.max(0, ...gaps.map(({ left, right }) => right - left));

/** Whether most of the places are at one; the others are cells of further columns in rows where this one is empty. */
function areAt(place: number, places: readonly number[]): boolean {
  const near = places.filter((each) => Math.abs(each - place) < 1);
  return near.length >= minNarrowRows && near.length >= minAligned * places.length;
}
