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
}

/** A table as its file describes it, row by row. */
export interface SourceTable {
  readonly rows: readonly (readonly TableCell[])[];
  /** Number of rows at the top that the file marks as headers. Absent: the cells and the looks of the rows decide. */
  readonly headerRows?: number;
  /**
   * The first row with several cells contains the headers, unless it looks like the others, as in sheets. Absent: only if it
   * looks like headers.
   */
  readonly startsWithHeaders?: boolean;
}

/** A place of the grid. All places that a cell covers share one object. */
export interface GridCell extends TableCell {
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
export function layOut(rows: readonly (readonly TableCell[])[]): Grid {
  const grid: Grid = rows.map(() => []);
  let allowed = minAllowed + maxGrowth * sizeOf(rows);
  const cover = (cell: GridCell, width: number, height: number) => {
    for (let row = cell.row; row < Math.min(cell.row + height, grid.length); row += 1)
      for (let column = cell.column; column < cell.column + width; column += 1) {
        const isOwn = row === cell.row && column === cell.column;
        if (!isOwn) allowed -= cell.text.length + 1;
        // A hostile page may let long cells cover many places: then a cell is in its first place only.
        if (isOwn || allowed > 0) grid[row]![column] ??= cell;
      }
  };
  rows.forEach((cells, row) => {
    let column = 0;
    for (const cell of cells) {
      while (grid[row]![column] !== undefined) column += 1;
      const width = clamp(cell.columns, maxColumns);
      // In HTML, 0 means: to the end of the table.
      const height = cell.rows === 0 ? grid.length - row : clamp(cell.rows, maxRows);
      cover({ ...cell, text: collapseWhitespace(cell.text), row, column }, width, height);
      column += width;
    }
  });
  return grid;
}

const sizeOf = (rows: readonly (readonly TableCell[])[]) =>
  rows.reduce((sum, cells) => sum + cells.reduce((length, { text }) => length + text.length + 1, 0), 0);

const clamp = (count: number | undefined, max: number) =>
  count !== undefined && Number.isInteger(count) && count > 0 ? Math.min(count, max) : 1;

/** The cells of a row with text, each once: a cell covers places without a gap. */
export function cellsOf(row: Grid[number]): GridCell[] {
  return row.filter(
    (cell, column): cell is GridCell => cell !== undefined && cell.text !== '' && cell !== row[column - 1],
  );
}
