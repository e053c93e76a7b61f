import type { DocumentBlock } from '../parsed-document.js';
import { cellsOf, countCells, layOut, type Grid, type GridCell, type SourceTable } from './table-grid.js';
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
  return tableBlocks({ ...facts, rows });
}

const hasText = (row: Grid[number]) => countCells(row) > 0;

/** The tables of a sheet: a table ends at empty rows if the row after them looks like the headers of another one. */
function sectionsOf(grid: Grid): Grid[] {
  const sections: Grid[] = [[]];
  let isAfterGap = false;
  let isTable = false;
  grid.forEach((row, at) => {
    const length = countCells(row);
    if (length === 0) isAfterGap = true;
    else {
      if (isAfterGap && isTable && startsSection(grid.slice(at, at + 20))) {
        sections.push([]);
        isTable = false;
      }
      sections.at(-1)!.push(row);
      isAfterGap = false;
      isTable ||= length > 1;
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

/**
 * The number of rows with a single text at the top of a table of several columns. A marked header beside an empty corner
 * is not a title.
 */
function titlesOf(grid: Grid, headerRows = 0): number {
  const found = grid.findIndex((row, at) => {
    if (countCells(row) > 1) return true;
    const [only] = cellsOf(row);
    return only !== undefined && only.column > 0 && (at < headerRows || only.names === 'columns');
  });
  return Math.max(0, found);
}

function gridBlocks(grid: Grid, table: SourceTable): DocumentBlock[] {
  const above = table.startsWithHeaders ? prefaceOf(grid) : titlesOf(grid, table.headerRows);
  const titles = grid.slice(0, above).map(cellsOf);
  const rows = table.startsWithHeaders ? fillGroups(grid.slice(above)) : grid.slice(above);
  const count = countHeaderRows(rows, { ...table, headerRows: (table.headerRows ?? 0) - above });
  const names = columnNames(rows.slice(0, count));
  const blocks: DocumentBlock[] = titles.map((cells) => ({ kind: 'paragraph', text: titleText(cells) }));
  if (rows.length === count) blocks.push({ kind: 'table-row', text: joined(rows[0]) });
  for (let at = count; at < rows.length; at += 1) {
    const text = rowText(rows[at]!, names);
    if (text !== '') blocks.push({ kind: 'table-row', text });
  }
  return blocks;
}

/** A title, or a fact about the table: `Created: 3 May`. */
function titleText([first, ...others]: readonly GridCell[]): string {
  const values = others.map(({ text }) => text).join('; ');
  const text = first?.text ?? '';
  return values === '' ? text : `${text.replace(/\s*:$/, '')}: ${values}`;
}

/** Rows of a sheet that show its width. */
const widthSample = 50;

/** The number of rows above the headers of a sheet: titles, and facts that fill at most half of the columns from the left. */
function prefaceOf(grid: Grid): number {
  const titles = titlesOf(grid);
  const widths = grid.slice(titles, titles + widthSample).map((row) => cellsOf(row).length);
  const width = widths.toSorted((one, other) => one - other)[Math.floor(widths.length / 2)] ?? 0;
  const isFact = (row: Grid[number]) => {
    const cells = cellsOf(row);
    return cells.length <= width / 2 && cells.every(({ column }, at) => column === at);
  };
  const headers = grid.findIndex((row) => !isFact(row));
  return Math.max(titles, headers);
}

/** The cells of a row without headers. A cell that ends with a colon names the others. */
function joined(row: Grid[number] = []): string {
  const cells = cellsOf(row);
  return cells[0]?.text.endsWith(':') === true ? titleText(cells) : cells.map(({ text }) => text).join('; ');
}

/** The text of a row. A cell over several columns counts in each column of another name. */
function rowText(row: Grid[number], names: readonly string[]): string {
  if (countCells(row) === 1) {
    const [only] = cellsOf(row);
    if (only && isRemark(only, row, names)) return only.text;
  }
  const title = names.length === 0 ? rowName(row) : '';
  let text = '';
  for (let column = 0; column < row.length; column += 1) {
    const cell = row[column];
    if (cell === undefined || cell.text === '' || (title !== '' && cell.names === 'row')) continue;
    const name = names[column] ?? '';
    if (column > 0 && cell === row[column - 1] && (name === '' || name === names[column - 1])) continue;
    if (text !== '') text += '; ';
    text += name === '' ? cell.text : `${name}: ${cell.text}`;
  }
  return title === '' ? text : `${title}: ${text}`;
}

/** The headers of a row in a table without headers of columns. */
function rowName(row: Grid[number]): string {
  const cells = cellsOf(row);
  const headers = cells.filter(({ names }) => names === 'row');
  return headers.length === cells.length
    ? ''
    : headers.map(({ text }) => text.replace(/\s*:$/, '')).join(' ');
}

/** Whether the only text of a row is a remark about the table: its cell covers all columns, or it is a sentence. */
function isRemark(only: GridCell, row: Grid[number], names: readonly string[]): boolean {
  const coversAll = names.length > 1 && row.length >= names.length && row.every((cell) => cell === only);
  return coversAll || only.text.split(' ', maxSingleWords + 1).length > maxSingleWords;
}
