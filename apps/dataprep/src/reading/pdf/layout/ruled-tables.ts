import { textOfLine } from './line-text.js';
import { rowsOf } from './page-rows.js';
import type { Ruling } from '../content/rulings.js';
import type { PageTable, PageWord, PlacedCell, TextLayer } from './upright.js';

/** Lines that are this near to each other are one, in points. */
const near = 3;
/** Share of a side of a cell that a line has to cover. */
const minCover = 0.6;
const maxLines = 5_000;
/** Boxes around whole paragraphs are a layout and not a table. */
const maxWordsOfCell = 150;

/** Replaces the words in tables with lines by the tables. */
export function withRuledTables({ words, rulings }: TextLayer): PageWord[] {
  let rest: readonly PageWord[] = words;
  const tables: PageWord[] = [];
  // More lines are a drawing.
  for (const lines of rulings.length > maxLines ? [] : connectedLines(rulings)) {
    const grid = gridOf(lines);
    if (!grid) continue;
    const inside = rest.filter((word) => placeIn(grid, word));
    const table = tableOf(grid, inside);
    if (!table) continue;
    const own = new Set(inside);
    rest = rest.filter((word) => !own.has(word));
    tables.push(tableWord(table, inside, grid));
  }
  return [...rest, ...tables];
}

/** The table as an element of the page at the place of its first row. */
function tableWord(table: PageTable, inside: readonly PageWord[], { xs, ys }: Grid): PageWord {
  const size = inside[0]?.size ?? 1;
  const [left = 0, right = left] = [xs[0], xs.at(-1)];
  return {
    text: '',
    x: left,
    y: (ys[0] ?? 0) - size,
    width: right - left,
    size,
    isBold: false,
    isSpaced: true,
    table,
  };
}

interface Grid {
  /** Borders of the columns from left to right, and of the rows from top to bottom. */
  xs: number[];
  ys: number[];
  horizontal: Ruling[];
  vertical: Ruling[];
}

const isHorizontal = ({ left, right, bottom, top }: Ruling) => right - left >= top - bottom;

/** Groups lines that touch each other. */
function connectedLines(rulings: readonly Ruling[]): Ruling[][] {
  const groups: { box: Ruling; lines: Ruling[] }[] = [];
  for (const ruling of rulings.toSorted((one, other) => other.top - one.top)) {
    const touching = groups.filter(
      ({ box, lines }) => meets(box, ruling) && lines.some((line) => meets(line, ruling)),
    );
    const lines = [...touching.flatMap((group) => group.lines), ruling];
    for (const group of touching) groups.splice(groups.indexOf(group), 1);
    groups.push({ box: around(lines), lines });
  }
  return groups.map(({ lines }) => lines).filter((lines) => lines.length >= 4);
}

function meets(one: Ruling, other: Ruling): boolean {
  return (
    one.left <= other.right + near &&
    other.left <= one.right + near &&
    one.bottom <= other.top + near &&
    other.bottom <= one.top + near
  );
}

function around(lines: readonly Ruling[]): Ruling {
  const box = { left: Infinity, bottom: Infinity, right: -Infinity, top: -Infinity };
  for (const line of lines) {
    box.left = Math.min(box.left, line.left);
    box.bottom = Math.min(box.bottom, line.bottom);
    box.right = Math.max(box.right, line.right);
    box.top = Math.max(box.top, line.top);
  }
  return box;
}

function gridOf(lines: readonly Ruling[]): Grid | undefined {
  const horizontal = lines.filter(isHorizontal);
  const vertical = lines.filter((line) => !isHorizontal(line));
  if (horizontal.length === 0 || vertical.length === 0) return undefined;
  const box = around(lines);
  const xs = distinct([...vertical.map(({ left, right }) => (left + right) / 2), box.left, box.right]);
  const ys = distinct([...horizontal.map(({ top, bottom }) => (top + bottom) / 2), box.top, box.bottom]);
  if (xs.length < 3 || ys.length < 3) return undefined;
  return { xs, ys: ys.toReversed(), horizontal, vertical };
}

/** Sorted numbers without those that nearly repeat the number before. */
function distinct(numbers: number[]): number[] {
  const kept: number[] = [];
  for (const number of numbers.toSorted((one, other) => one - other))
    if (number - (kept.at(-1) ?? -Infinity) > near) kept.push(number);
  return kept;
}

/** Row and column of the middle of a word; undefined outside of the grid. */
function placeIn(
  { xs, ys }: Grid,
  { x, y, width, size, table }: PageWord,
): [row: number, column: number] | undefined {
  if (table) return undefined;
  const [middleX, middleY] = [x + width / 2, y + size * 0.3];
  const column = xs.findLastIndex((border) => border <= middleX);
  const row = ys.findLastIndex((border) => border >= middleY);
  return column >= 0 && column < xs.length - 1 && row >= 0 && row < ys.length - 1 ? [row, column] : undefined;
}

function tableOf(grid: Grid, inside: readonly PageWord[]): PageTable | undefined {
  const width = grid.xs.length - 1;
  const regions = joinCells(grid);
  const words = new Map<number, PageWord[]>();
  for (const word of inside) {
    const [row = 0, column = 0] = placeIn(grid, word) ?? [];
    const region = regions[row * width + column]!;
    words.set(region, [...(words.get(region) ?? []), word]);
  }
  const cells = [...new Set(regions)].map((region): PlacedCell => {
    const members = regions.flatMap((each, index) => (each === region ? [index] : []));
    const rows = members.map((index) => Math.floor(index / width));
    const columns = members.map((index) => index % width);
    const [row, column] = [Math.min(...rows), Math.min(...columns)];
    const own = words.get(region) ?? [];
    return {
      text: cellText(own),
      row,
      column,
      rows: Math.max(...rows) - row + 1,
      columns: Math.max(...columns) - column + 1,
      isBold: own.length > 0 && own.every(({ isBold }) => isBold),
    };
  });
  return isTable(cells, words) ? { cells, columns: grid.xs.slice(0, -1) } : undefined;
}

function isTable(cells: readonly PlacedCell[], words: ReadonlyMap<number, PageWord[]>): boolean {
  const filled = cells.filter(({ text }) => text);
  return (
    new Set(filled.map(({ row }) => row)).size > 1 &&
    new Set(filled.map(({ column }) => column)).size > 1 &&
    [...words.values()].every((list) => list.length <= maxWordsOfCell)
  );
}

/** The text of a cell: its lines from top to bottom, without hyphens at their ends. */
export function cellText(words: readonly PageWord[]): string {
  return rowsOf(words)
    .map((row) => textOfLine(row.words, row))
    .reduce(
      (text, line) =>
        /\p{Ll}[-\u00ad\u2010]$/u.test(text) && /^\p{Ll}/u.test(line)
          ? text.slice(0, -1) + line
          : `${text} ${line}`,
      '',
    )
    .trim();
}

/** A number for each cell of the grid, row by row; cells without a line between them share one. */
function joinCells({ xs, ys, horizontal, vertical }: Grid): number[] {
  const [width, height] = [xs.length - 1, ys.length - 1];
  const regions = Array.from({ length: width * height }, (_cell, index) => index);
  const join = (one: number, other: number) => {
    const [from, to] = [regions[other]!, regions[one]!];
    if (from !== to) regions.forEach((region, index) => region === from && (regions[index] = to));
  };
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const cell = row * width + column;
      const [left, right, top, bottom] = [xs[column]!, xs[column + 1]!, ys[row]!, ys[row + 1]!];
      if (column + 1 < width && !hasVertical(vertical, right, bottom, top)) join(cell, cell + 1);
      if (row + 1 < height && !hasHorizontal(horizontal, bottom, left, right)) join(cell, cell + width);
    }
  }
  return regions;
}

function hasVertical(lines: readonly Ruling[], x: number, bottom: number, top: number): boolean {
  const parts = lines
    .filter(({ left, right }) => left - near <= x && right + near >= x)
    .map((line): [number, number] => [Math.max(bottom, line.bottom), Math.min(top, line.top)]);
  return covered(parts) >= minCover * (top - bottom);
}

function hasHorizontal(lines: readonly Ruling[], y: number, left: number, right: number): boolean {
  const parts = lines
    .filter((line) => line.bottom - near <= y && line.top + near >= y)
    .map((line): [number, number] => [Math.max(left, line.left), Math.min(right, line.right)]);
  return covered(parts) >= minCover * (right - left);
}

/** Length of the union of intervals. */
function covered(intervals: readonly [start: number, end: number][]): number {
  let length = 0;
  let reached = -Infinity;
  for (const [start, end] of intervals.toSorted(([one], [other]) => one - other)) {
    if (end > Math.max(start, reached)) length += end - Math.max(start, reached);
    reached = Math.max(reached, end);
  }
  return length;
}
