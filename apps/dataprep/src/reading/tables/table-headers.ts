import { cellsOf, type Grid, type GridCell, type SourceTable } from './table-grid.js';

/** A longer text is not a header. */
const maxHeaderWords = 5;
/** Limit for the rows of headers below the first ones. */
const maxFurtherRows = 3;
/** Share of the cells of a column that are numbers, by which the row above them is recognized as the headers. */
const minShare = 0.6;
/** Rows that show what a column contains. */
const sampleRows = 200;
const digit = /\d/;
const numberLike = /^\W{0,3}\d[\d.,:/\s-]*\W{0,3}(?:[\p{L}%€$£²³/.]{1,12}\s?){0,2}$/u;
const year = /^(?:1[89]|20|21)\d\d$/;

/** The number of rows at the top of a grid that contain its headers. */
export function countHeaderRows(
  grid: Grid,
  { headerRows = 0, startsWithHeaders = false }: SourceTable,
): number {
  const isMarked = headerRows > 0;
  let count = isMarked ? headerRows : markedRows(grid);
  if (count === 0) count = (startsWithHeaders ? !looksLikeData(grid) : looksLikeHeader(grid)) ? 1 : 0;
  if (count === 0) return 0;
  const maxCount = Math.min(count + maxFurtherRows, grid.length - 1);
  const isFurther = (at: number) => goesOn(grid, at) || (!isMarked && namesParts(grid, at));
  while (count < maxCount && isFurther(count)) count += 1;
  return Math.min(count, grid.length);
}

/** The number of rows at the top whose cells are marked as headers of columns. */
function markedRows(grid: Grid): number {
  const end = grid.findIndex((row) => !areColumnHeaders(row));
  return end === -1 ? grid.length : end;
}

/** Whether a header of the row above covers a place of this row. */
function goesOn(grid: Grid, at: number): boolean {
  const row = grid[at]!;
  return grid[at - 1]!.some((cell, column) => cell !== undefined && cell === row[column]);
}

/** Whether a row has cells that the file marks as headers of columns, and at most an empty corner besides. */
function areColumnHeaders(row: Grid[number]): boolean {
  const cells = cellsOf(row);
  return cells.length > 0 && cells.every(({ names }) => names === 'columns');
}

/** Whether a document shows the first row as headers: short names that are bold, or above cells with numbers. */
function looksLikeHeader([first = [], ...rest]: Grid): boolean {
  const names = first.filter((cell, column) => cell !== first[column - 1]).map((cell) => cell?.text ?? '');
  const areNames =
    names.length > 1 &&
    new Set(names).size === names.length &&
    names.every((name, at) => (name !== '' || at === 0) && isName(name));
  if (!areNames || rest.length === 0) return false;
  if (cellsOf(first).every(({ isBold }) => isBold === true)) return true;
  // A table of two columns may also be a list of names with their values.
  const isList = names.length === 2;
  return first.some((cell, column) => {
    const texts = textsOf(rest, column);
    if (texts.length < (isList ? 2 : 1) || !areMostly(texts, isList ? numberLike : digit)) return false;
    return !year.test(cell?.text ?? '') || !areMostly(texts, year);
  });
}

/** Whether the first row of a sheet has a number above numbers: then the sheet has no headers. */
function looksLikeData([first = [], ...rest]: Grid): boolean {
  return first.some((cell, column) => {
    const text = cell?.text ?? '';
    if (!numberLike.test(text)) return false;
    const below = textsOf(rest, column);
    return below.length > 0 && areMostly(below, year.test(text) ? year : numberLike);
  });
}

/** Whether a table begins in this row of a sheet, because its cells are names above numbers. */
export function beginsTable(grid: Grid): boolean {
  return cellsOf(grid[0] ?? []).length > 1 && looksLikeHeader(grid);
}

/**
 * Whether a row names the parts of the headers above it: its names differ below a header of several columns, and it has
 * an empty place below another header, or numbers below its names.
 */
function namesParts(grid: Grid, at: number): boolean {
  const [above, row] = [grid[at - 1]!, grid[at]!];
  const cells = cellsOf(row);
  if (cells.length < 2 || !cells.every(isLabel)) return false;
  const hasParts = row.some((cell, column) => {
    const before = row[column - 1];
    const isSame = column > 0 && above[column] !== undefined && above[column] === above[column - 1];
    return (
      isSame && cell !== before && cell !== undefined && before !== undefined && cell.text !== before.text
    );
  });
  if (!hasParts) return false;
  return above.some((header, column) => {
    const isEmpty = (row[column]?.text ?? '') === '';
    const below = isEmpty ? [] : textsOf(grid.slice(at + 1, at + 1 + sampleRows), column);
    return (header?.text ?? '') !== '' && (isEmpty || (below.length > 0 && areMostly(below, numberLike)));
  });
}

/**
 * Lets a header of a sheet cover the empty places to its right where the next row has names: programs that export
 * sheets as text leave the places out that a cell covers.
 */
export function fillGroups(grid: Grid): Grid {
  const [first = [], second = []] = grid;
  const isGap = (column: number) =>
    column > 0 && (first[column]?.text ?? '') === '' && (second[column]?.text ?? '') !== '';
  if (!second.some((_cell, column) => isGap(column))) return grid;
  const filled: Grid[number] = [];
  for (let column = 0; column < Math.max(first.length, second.length); column += 1)
    filled[column] = isGap(column) ? filled[column - 1] : first[column];
  const candidate = [filled, ...grid.slice(1)];
  return namesParts(candidate, 1) ? candidate : grid;
}

const isLabel = ({ text }: GridCell) =>
  text.split(' ').length <= maxHeaderWords && (!numberLike.test(text) || year.test(text));

const isName = (text: string) =>
  (!digit.test(text) || year.test(text)) && text.split(' ').length <= maxHeaderWords;

const textsOf = (rows: Grid, column: number) =>
  rows.slice(0, sampleRows).flatMap((row) => row[column]?.text || []);

const areMostly = (texts: readonly string[], pattern: RegExp) =>
  texts.filter((text) => pattern.test(text)).length >= minShare * texts.length;

/**
 * The name of each column: the headers above it from top to bottom, joined. A header that covers several columns or rows
 * counts in each of them, and once within a name. Different columns with the same name are numbered: `Price (2)`.
 */
export function columnNames(headers: Grid): string[] {
  const width = headers.reduce((max, row) => Math.max(max, row.length), 0);
  const counts = new Map<string, Map<string, number>>();
  return Array.from({ length: width }, (_unused, column) => {
    const cells = [...new Set(headers.map((row) => row[column]))].filter((cell) => cell !== undefined);
    const parts = cells
      .map(({ text }) => text)
      .filter((text, at, all) => text !== '' && text !== all[at - 1]);
    const name = parts
      .join(' ')
      .replace(/\s*:$/, '')
      .replaceAll(/[:;](?=\s)/g, ',');
    if (name === '') return '';
    const sources = counts.get(name) ?? new Map<string, number>();
    counts.set(name, sources);
    const source = cells.map(({ row, column: at }) => `${row}:${at}`).join(' ');
    const number = sources.get(source) ?? sources.size + 1;
    sources.set(source, number);
    return number === 1 ? name : `${name} (${number})`;
  });
}
