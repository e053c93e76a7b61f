import { collapseWhitespace } from './collapse-whitespace.js';
import type { DocumentBlock } from './parsed-document.js';

/**
 * Rows of a table as blocks that make sense alone: `header: value; header: value`. Empty cells are left out; without
 * headers the cells are joined. A table of headers only gives them as its one row.
 */
export function tableRows(headers: string[], rows: string[][]): DocumentBlock[] {
  const body =
    rows.length > 0 ? rows.map((row) => rowText(headers, row)) : [headers.map(collapseWhitespace).join('; ')];
  return body.filter(Boolean).map((text) => ({ kind: 'table-row', text }));
}

function rowText(headers: string[], row: string[]): string {
  return row
    .map((cell, index) => labelled(collapseWhitespace(headers[index] ?? ''), collapseWhitespace(cell)))
    .filter(Boolean)
    .join('; ');
}

function labelled(header: string, value: string): string {
  return header && value ? `${header}: ${value}` : value;
}
