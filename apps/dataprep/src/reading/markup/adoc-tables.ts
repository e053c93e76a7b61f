import { parseFields } from '../sheets/csv-fields.js';
import type { SourceTable, TableCell } from '../tables/table-grid.js';

/** The line that begins and ends a table: `|===`, `,===`, `:===`, or `!===` for a table in a cell. */
export const tableFence = /^[|,:!]={3,}[ \t]*$/;

/** `2+|`, `.3+|`, `2.3+^.>s|`, `3*|`: what stands before the mark of a cell. */
const cellMark = /(?:^|(?<=\s))((?:\d+(?:\.\d+)?|\.\d+)?[+*]?(?:[<^>](?:\.[<^>])?|\.[<^>])?[aehlmsdv]?)\|/gm;
const maxColumns = 1_000;

/** A table by the lines between its fences. `style`: its attributes; `mark`: its fence. */
export function adocTable(
  lines: readonly string[],
  { style, mark }: { style: string; mark: string },
): SourceTable {
  const hasHeaders = /%header|options?="?[^"]*header|headers?\b/.test(style) || isSetApart(lines);
  const format = /format="?(csv|tsv|dsv)/.exec(style)?.[1];
  const delimiter =
    format === undefined ? { ',': ',', ':': ':' }[mark[0]!] : { csv: ',', tsv: '\t', dsv: ':' }[format];
  const rows =
    delimiter === undefined
      ? rowsOf(cellsOf(lines), columnsOf(style) ?? firstRow(lines), lines)
      : parseFields(lines.join('\n'), delimiter).filter((fields) => fields.length > 0);
  return { rows, ...(hasHeaders && rows.length > 1 && { headerRows: 1 }) };
}

/** The first row is followed by an empty line: then it contains the headers. */
function isSetApart(lines: readonly string[]): boolean {
  const first = lines.findIndex((line) => line.trim() !== '');
  return first === 0 && lines.length > 2 && lines[1]!.trim() === '' && cellsOf([lines[0]!]).length > 1;
}

/** The number of columns by the attribute: `cols="1,2,3"`, `cols=3*`. */
function columnsOf(style: string): number | undefined {
  const value = /cols="([^"]*)"|cols=([^,\s]+)/.exec(style);
  const text = value?.[1] ?? value?.[2];
  if (text === undefined) return undefined;
  const counts = text.split(/[,;]/).map((column) => Number(/^\s*(\d+)\*/.exec(column)?.[1] ?? 1));
  return Math.min(
    maxColumns,
    counts.reduce((sum, count) => sum + count, 0),
  );
}

/** The number of columns by the cells of the first line. */
function firstRow(lines: readonly string[]): number {
  const line = lines.find((own) => own.trim() !== '') ?? '';
  return cellsOf([line]).reduce((sum, { columns = 1 }) => sum + columns, 0);
}

function cellsOf(lines: readonly string[]): TableCell[] {
  const source = lines.join('\n').replaceAll('\\|', '\u0001');
  const marks = [...source.matchAll(cellMark)];
  return marks.flatMap((found, at): TableCell[] => {
    const begin = found.index + found[0].length;
    const text = source
      .slice(begin, marks[at + 1]?.index)
      .replaceAll('\u0001', '|')
      .trim();
    const [, first, second, sign] = /^(\d+)?(?:\.(\d+))?([+*])?/.exec(found[1]!) ?? [];
    const names = found[1]!.endsWith('h') ? { names: 'row' as const } : {};
    if (sign === '*')
      return Array.from({ length: Math.min(maxColumns, Number(first ?? 1)) }, () => ({ text }));
    return [{ text, ...names, ...(sign && { columns: Number(first ?? 1), rows: Number(second ?? 1) }) }];
  });
}

/** Cells in rows of this many columns. A cell over several rows takes its place in the rows below. */
function rowsOf(cells: readonly TableCell[], columns: number, lines: readonly string[]): TableCell[][] {
  if (columns < 1) return lines.map((text) => [{ text }]);
  const rows: TableCell[][] = [];
  /** For each column the number of rows below the current one in which it is taken. */
  const taken = Array.from({ length: columns }, () => 0);
  let column = columns;
  for (const cell of cells) {
    while (column >= columns || taken[column]! > 0) {
      if (column < columns) {
        taken[column]! -= 1;
        column += 1;
      } else {
        rows.push([]);
        column = 0;
      }
    }
    rows.at(-1)!.push({ ...cell, column });
    const end = Math.min(columns, column + (cell.columns ?? 1));
    for (; column < end; column += 1) taken[column] = Math.min(maxColumns, (cell.rows ?? 1) - 1);
  }
  return rows;
}
