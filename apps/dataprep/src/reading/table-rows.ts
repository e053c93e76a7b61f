import { collapseWhitespace, type DocumentBlock } from './parsed-document.js';

/** A longer text is not a header. */
const maxHeaderWords = 5;
/** Share of the cells of a column that are numbers, by which the row above them is recognized as the headers. */
const minNumbers = 0.6;
const numberLike = /^\W{0,3}\d[\d.,:/\s-]*\W{0,3}(?:[\p{L}%€$£²³/.]{1,12}\s?){0,2}$/u;

/**
 * Rows of a table as blocks that each make sense alone: `header: value; header: value`. The first row with several cells
 * contains the headers; single cells above it are titles. An empty list in place of the first row means that
 * the table has no headers: then the cells are joined. Empty cells are left out. A table with headers only gives one row.
 */
export function tableRows(cells: readonly (readonly string[])[]): DocumentBlock[] {
  const rows = cells.map((row) => row.map(collapseWhitespace));
  const isUnnamed = cells[0]?.length === 0;
  const start = isUnnamed ? 0 : rows.findIndex((row) => filled(row) > 1);
  const titles = start > 0 ? rows.slice(0, start).flatMap((row) => row.find(Boolean) ?? []) : [];
  const [headers = [], ...rest] = start > 0 ? rows.slice(start) : rows;
  const names = distinctNames(headers);
  const body = rest.length > 0 ? rest.map((row) => rowText(names, row)) : [headers.join('; ')];
  return [
    ...titles.map((text): DocumentBlock => ({ kind: 'paragraph', text })),
    ...body.filter(Boolean).map((text): DocumentBlock => ({ kind: 'table-row', text })),
  ];
}

/** Rows of a table that does not mark its headers: the first row, where it looks like them. `isBold`: its cells are bold. */
export function unmarkedTableRows(rows: readonly (readonly string[])[], isBold: boolean): DocumentBlock[] {
  return tableRows(beginsWithHeaders(rows, isBold) ? rows : [[], ...rows]);
}

/** Whether the cells of the first row are short names without digits, and are bold or above a column of numbers. */
function beginsWithHeaders([first = [], ...rest]: readonly (readonly string[])[], isBold: boolean): boolean {
  const names = first.map(collapseWhitespace);
  const areNames =
    names.length > 1 &&
    new Set(names).size === names.length &&
    names.every((name) => name !== '' && !/\d/.test(name) && name.split(' ').length <= maxHeaderWords);
  if (!areNames || rest.length === 0) return false;
  const isNumeric = (column: number) => {
    const cells = rest.map((row) => collapseWhitespace(row[column] ?? '')).filter(Boolean);
    return (
      cells.length > 1 && cells.filter((cell) => numberLike.test(cell)).length >= minNumbers * cells.length
    );
  };
  return isBold || names.some((_name, column) => isNumeric(column));
}

const filled = (row: readonly string[]) => row.filter(Boolean).length;

/** Headers without marks that end them, each once: a second `Price` becomes `Price (2)`. */
function distinctNames(headers: readonly string[]): string[] {
  const counts = new Map<string, number>();
  return headers.map((header) => {
    const name = header.replace(/\s*:$/, '').replaceAll(/[:;](?=\s)/g, ',');
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return name === '' || count === 1 ? name : `${name} (${count})`;
  });
}

function rowText(headers: readonly string[], row: readonly string[]): string {
  return row
    .map((cell, index) => labeled(headers[index] ?? '', cell))
    .filter(Boolean)
    .join('; ');
}

function labeled(header: string, value: string): string {
  return header && value ? `${header}: ${value}` : value;
}
