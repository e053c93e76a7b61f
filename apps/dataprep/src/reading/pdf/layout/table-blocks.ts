import type { DocumentBlock } from '../../parsed-document.js';
import type { TableCell } from '../../tables/table-grid.js';
import { tableBlocks } from '../../tables/table-rows.js';
import type { LocatedTable } from './page-parts.js';
import type { PageTable, PlacedCell } from './upright.js';

/** Borders of columns that differ less belong to the same table, in points. */
const sameBorder = 12;

/** Appends a table to the one above if it goes on there on the next page, with the same columns. */
export function joinTables(above: LocatedTable, next: LocatedTable): boolean {
  const lastPage = above.breaks?.at(-1)?.[1] ?? above.page;
  const [columns, others] = [above.table.columns, next.table.columns];
  const isSame =
    columns.length === others.length &&
    columns.every((border, index) => Math.abs(border - (others[index] ?? 0)) < sameBorder);
  if (!isSame || next.page !== lastPage + 1) return false;
  const repeated = repeatedRows(above.table, next.table);
  const height = heightOf(above.table);
  above.table = {
    columns,
    cells: [
      ...above.table.cells,
      ...next.table.cells
        .filter(({ row }) => row >= repeated)
        .map((cell) => ({ ...cell, row: cell.row - repeated + height })),
    ],
  };
  above.breaks = [...(above.breaks ?? []), [height, next.page]];
  return true;
}

/** The number of rows at the top of a table that repeat those of the one above: its headers. */
function repeatedRows(above: PageTable, next: PageTable): number {
  let row = 0;
  while (row < heightOf(next) - 1 && row < heightOf(above) && rowKey(next, row) === rowKey(above, row))
    row += 1;
  return row;
}

function rowKey({ cells }: PageTable, row: number): string {
  return JSON.stringify(cells.filter((cell) => cell.row === row).map(({ text, column }) => [text, column]));
}

const heightOf = ({ cells }: PageTable) => Math.max(...cells.map(({ row, rows }) => row + rows));

/** The rows of a table as blocks with their pages. */
export function blocksOfTables({ table, page, breaks = [] }: LocatedTable): DocumentBlock[] {
  const rows: TableCell[][] = Array.from({ length: heightOf(table) }, () => []);
  const byPlace = table.cells.toSorted((one, other) => one.row - other.row || one.column - other.column);
  for (const { row, text, rows: height, columns, isBold } of byPlace)
    rows[row]!.push({ text, columns, rows: height, isBold });
  const headerRows = headersOf(table);
  const blocks = tableBlocks({ rows, ...(headerRows > 0 && { headerRows }) });
  // Rows and blocks correspond from the end: headers and titles are at the beginning.
  const missing = rows.length - blocks.length;
  return blocks.map((block, index) => ({
    ...block,
    page: breaks.findLast(([row]) => row <= index + missing)?.[1] ?? page,
  }));
}

const isBold = (cells: readonly PlacedCell[]) => cells.length > 0 && cells.every((cell) => cell.isBold);

const maxHeaderWords = 4;

/** The number of rows at the top that are headers by their letters: bold above others, or short names above more rows. */
function headersOf(table: PageTable): number {
  const rows = Array.from({ length: heightOf(table) }, (_row, row) =>
    table.cells.filter((cell) => cell.row === row && cell.text),
  );
  const firstPlain = rows.findIndex((cells) => !isBold(cells));
  if (firstPlain > 0) return firstPlain;
  const [first = [], ...rest] = rows;
  const names = first.map(({ text }) => text);
  const areNames =
    rest.length > 1 &&
    first.length === table.columns.length &&
    new Set(names).size === names.length &&
    names.every((name) => !/\d|[.:;!?]$/.test(name) && name.split(' ').length <= maxHeaderWords);
  if (!areNames) return 0;
  if (table.columns.length > 2) return 1;
  // A table of two columns may also be a list of names with their values.
  const texts = rest.flatMap((cells) => cells.find((cell) => cell.column === 1)?.text ?? []);
  const isLonger = texts.filter((text) => text.split(' ').length > 2).length >= 0.7 * texts.length;
  const shapes = new Set(texts.map(shapeOf));
  const isOfOneShape = texts.length > 1 && shapes.size === 1 && /0/.test([...shapes].join(''));
  return names.every((name) => !name.includes(' ')) && (isLonger || isOfOneShape) ? 1 : 0;
}

/** `B4` and `C17` have the same shape. */
function shapeOf(text: string): string {
  return text
    .replaceAll(/\p{Lu}+/gu, 'A')
    .replaceAll(/\p{Ll}+/gu, 'a')
    .replaceAll(/\d+/g, '0');
}
