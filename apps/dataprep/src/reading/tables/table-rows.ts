import type { DocumentBlock } from '../parsed-document.js';
import { cellsOf, layOut, type Grid, type GridCell, type SourceTable } from './table-grid.js';
import { beginsTable, columnNames, countHeaderRows, fillGroups } from './table-headers.js';

/** A row with one text of more words is a remark, and not a value of its column. */
const maxSingleWords = 8;

/**
 * Rows of a table as blocks that each make sense alone: `header: value; header: value`. Rows with a single cell above
 * the headers are titles. Rows of a table without headers have their cells joined. Empty cells are left out. A table
 * with headers only gives one row.
 */
export function tableBlocks(table: SourceTable): DocumentBlock[] {
  const grid = layOut(table.rows);
  const blocks = table.startsWithHeaders
    ? sectionsOf(grid).flatMap((section) => gridBlocks(section, table))
    : gridBlocks(grid.filter(hasText), table);
  const first = blocks.find(({ kind }) => kind === 'table-row');
  if (first) first.startsTable = true;
  return blocks;
}

/** The blocks of a table of texts. `startsWithHeaders`: its first row with several cells contains the headers. */
export function textTableBlocks(
  rows: readonly (readonly string[])[],
  facts: Omit<SourceTable, 'rows'> = { startsWithHeaders: true },
): DocumentBlock[] {
  return tableBlocks({ ...facts, rows: rows.map((row) => row.map((text) => ({ text }))) });
}

const hasText = (row: Grid[number]) => cellsOf(row).length > 0;

/** The tables of a sheet: a table ends at empty rows if the row after them looks like the headers of another one. */
function sectionsOf(grid: Grid): Grid[] {
  const sections: Grid[] = [[]];
  let isAfterGap = false;
  grid.forEach((row, at) => {
    if (!hasText(row)) isAfterGap = true;
    else {
      const isTable = sections.at(-1)!.some((earlier) => cellsOf(earlier).length > 1);
      if (isAfterGap && isTable && startsSection(grid.slice(at, at + 20))) sections.push([]);
      sections.at(-1)!.push(row);
      isAfterGap = false;
    }
  });
  return sections;
}

/** Whether rows after a gap are another table: a title above headers, or headers. */
function startsSection(rows: Grid): boolean {
  const end = rows.findIndex((row) => !hasText(row));
  const own = end > 0 ? rows.slice(0, end) : rows;
  return beginsTable(own.slice(titlesOf(own)));
}

/** The number of rows with a single cell at the top of a table of several columns. */
function titlesOf(grid: Grid): number {
  return Math.max(
    0,
    grid.findIndex((row) => cellsOf(row).length > 1),
  );
}

function gridBlocks(grid: Grid, table: SourceTable): DocumentBlock[] {
  const above = titlesOf(grid);
  const titles = grid.slice(0, above).flatMap(cellsOf);
  const rows = table.startsWithHeaders ? fillGroups(grid.slice(above)) : grid.slice(above);
  const count = countHeaderRows(rows, { ...table, headerRows: (table.headerRows ?? 0) - above });
  const names = columnNames(rows.slice(0, count));
  const texts = rows.length > count ? rows.slice(count).map((row) => rowText(row, names)) : [joined(rows[0])];
  return [
    ...titles.map(({ text }): DocumentBlock => ({ kind: 'paragraph', text })),
    ...texts.filter(Boolean).map((text): DocumentBlock => ({ kind: 'table-row', text })),
  ];
}

const joined = (row: Grid[number] = []) =>
  cellsOf(row)
    .map(({ text }) => text)
    .join('; ');

/** The text of a row. A cell over several columns counts in each column of another name. */
function rowText(row: Grid[number], names: readonly string[]): string {
  const cells = cellsOf(row);
  const [only] = cells;
  if (cells.length === 1 && only && isRemark(only, row, names)) return only.text;
  const title = names.some(Boolean) ? '' : rowName(cells);
  const texts: string[] = [];
  row.forEach((cell, column) => {
    if (cell === undefined || cell.text === '' || (title !== '' && cell.names === 'row')) return;
    const name = names[column] ?? '';
    const isWritten = cell === row[column - 1] && (name === '' || name === names[column - 1]);
    if (!isWritten) texts.push(name === '' ? cell.text : `${name}: ${cell.text}`);
  });
  return title === '' ? texts.join('; ') : `${title}: ${texts.join('; ')}`;
}

/** The headers of a row in a table without headers of columns. */
function rowName(cells: readonly GridCell[]): string {
  const headers = cells.filter(({ names }) => names === 'row');
  return headers.length === cells.length
    ? ''
    : headers.map(({ text }) => text.replace(/\s*:$/, '')).join(' ');
}

/** Whether the only text of a row is a remark about the table: its cell covers all columns, or it is a sentence. */
function isRemark(only: GridCell, row: Grid[number], names: readonly string[]): boolean {
  const coversAll = names.length > 1 && row.length >= names.length && row.every((cell) => cell === only);
  return coversAll || only.text.split(' ').length > maxSingleWords;
}
