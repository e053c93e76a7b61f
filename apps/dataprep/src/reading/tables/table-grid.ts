import { collapseWhitespace } from '../parsed-document.js';

/** A cell of a table as its file describes it. */
export interface TableCell {
  readonly text: string;
  /** Number of columns that it covers; 1 if absent. */
  readonly columns?: number;
  /** Number of rows that it covers; 1 if absent. */
  readonly rows?: number;
  /** What the file says that the cell names. */
  readonly names?: 'columns' | 'row';
  readonly isBold?: boolean;
  /** Column in which it begins, from 0; absent: the next free one of its row. */
  readonly column?: number;
}

/** Cells row by row; a text is a cell without further facts. */
export type CellRows = readonly (readonly (TableCell | string)[])[];

/** A table as its file describes it, row by row. */
export interface SourceTable {
  readonly rows: CellRows;
  /** Number of rows at the top that the file marks as headers. Absent: the cells and the looks of the rows decide. */
  readonly headerRows?: number;
  /**
   * The first row with several cells contains the headers, unless it looks like the others, as in sheets. Absent: only if it
   * looks like headers.
   */
  readonly startsWithHeaders?: boolean;
}

/** A place of the grid. All places that a cell covers share one object. */
export interface GridCell {
  readonly text: string;
  readonly names: TableCell['names'];
  readonly isBold: boolean | undefined;
  /** The row and the column in which it begins, from 0. */
  readonly row: number;
  readonly column: number;
}

/** Cells by rows and columns. Rows may differ in length; a place without a cell is undefined. */
export type Grid = (GridCell | undefined)[][];

/** Limits for the places that a cell covers, so that a page cannot make a table of any size. */
const [maxColumns, maxRows] = [1_000, 65_534];
/** Limit for the places and the characters that spans add to a table, as a multiple of its own, and at least. */
const maxGrowth = 20;
const minAllowed = 20_000;

/** Lays the cells of a table out on a grid: a cell is in each row and in each column that it covers. */
export function layOut(rows: CellRows): Grid {
  const grid: Grid = rows.map(() => []);
  let allowed = minAllowed + maxGrowth * sizeOf(rows);
  const cover = (cell: GridCell, width: number, height: number) => {
    for (let row = cell.row; row < Math.min(cell.row + height, grid.length); row += 1)
      for (let column = cell.column; column < cell.column + width; column += 1) {
        allowed -= cell.text.length + 1;
        // A hostile page may let long cells cover many places: then a cell is in its first place only.
        if (allowed > 0) grid[row]![column] ??= cell;
      }
  };
  for (let row = 0; row < rows.length; row += 1) {
    const line = grid[row]!;
    let column = 0;
    for (const entry of rows[row]!) {
      const source: TableCell = typeof entry === 'string' ? { text: entry } : entry;
      const { names, isBold, columns = 1, rows: covered = 1 }: TableCell = source;
      if (source.column !== undefined) column = source.column;
      else while (line[column] !== undefined) column += 1;
      const cell = { text: collapseWhitespace(source.text), names, isBold, row, column };
      line[column] = cell;
      const width = clamp(columns, maxColumns);
      // In HTML, 0 means: to the end of the table.
      const height = covered === 0 ? rows.length - row : clamp(covered, maxRows);
      if (width > 1 || height > 1) cover(cell, width, height);
      column += width;
    }
  }
  return grid;
}

function sizeOf(rows: CellRows): number {
  let size = 0;
  for (const cells of rows)
    for (const cell of cells) size += (typeof cell === 'string' ? cell : cell.text).length + 1;
  return size;
}

const clamp = (count: number, max: number) =>
  Number.isInteger(count) && count > 0 ? Math.min(count, max) : 1;

/** The cells of a row with text, each once: a cell covers places without a gap. */
export function cellsOf(row: Grid[number]): GridCell[] {
  return row.filter(
    (cell, column): cell is GridCell => cell !== undefined && cell.text !== '' && cell !== row[column - 1],
  );
}

/** The number of the cells of a row with text, up to 2: more make no difference to the kind of a row. */
export function countCells(row: Grid[number]): 0 | 1 | 2 {
  let first: GridCell | undefined;
  for (let column = 0; column < row.length; column += 1) {
    const cell = row[column];
    if (cell === undefined || cell.text === '' || cell === first) continue;
    if (first) return 2;
    first = cell;
  }
  return first ? 1 : 0;
}
