import type { SourceTable, TableCell } from '../tables/table-grid.js';

export const gridRule = /^\s*\+(?:[-=]+\+)+\s*$/;
export const simpleRule = /^\s*=+(?:\s+=+)+\s*$/;
const isHeaderRule = (line: string) => /^\+[=+]+\+$/.test(line);
const maxPlaces = 200_000;

/** A table whose cells have borders: `+---+---+`. A cell may cover several columns and rows. */
export function gridTable(source: readonly string[]): SourceTable {
  const indent = source[0]!.indexOf('+');
  const lines = source.map((line) => line.slice(indent).trimEnd());
  const columns = placesOf(lines, (line) =>
    /^[+|]/.test(line) ? [...line.matchAll(/\+/g)].map(({ index }) => index) : [],
  );
  const rules = lines.flatMap((line, at) => (/^\+[-=]/.test(line) || /\+[-=]{2,}\+/.test(line) ? [at] : []));
  const rows: TableCell[][] = rules.slice(1).map(() => []);
  if (columns.length * rules.length > maxPlaces) return { rows: lines.map((text) => [{ text }]) };
  const isBorder = (at: number, left: number, right: number) =>
    /^[-=+]+$/.test((lines[at] ?? '').slice(left + 1, right));
  const starts = (at: number, place: number) =>
    '+|'.includes(lines[at + 1]?.[place] ?? ' ') && '+'.includes(lines[at]?.[place] ?? ' ');
  for (let row = 0; row < rules.length - 1; row += 1)
    for (let column = 0; column < columns.length - 1; column += 1) {
      const top = rules[row]!;
      const left = columns[column]!;
      if (!starts(top, left) || !isBorder(top, left, columns[column + 1]!)) continue;
      let end = column + 1;
      while (end < columns.length - 1 && !'|+'.includes(lines[top + 1]?.[columns[end]!] ?? ' ')) end += 1;
      const right = columns[end]!;
      let below = row + 1;
      while (below < rules.length - 1 && !isBorder(rules[below]!, left, right)) below += 1;
      const text = lines
        .slice(top + 1, rules[below])
        .map((line) => line.slice(left + 1, right))
        .join('\n');
      rows[row]!.push({ text, column, columns: end - column, rows: below - row });
    }
  const rule = lines.findIndex(isHeaderRule);
  const headerRows = rule === -1 ? 0 : rules.indexOf(rule);
  return { rows, ...(headerRows > 0 && { headerRows }) };
}

function placesOf(lines: readonly string[], places: (line: string) => number[]): number[] {
  return [...new Set(lines.flatMap(places))].sort((one, other) => one - other);
}

interface Bounds {
  start: number;
  end: number;
}

/** A table whose columns are marked by a line above: `=====  =====`. A row without a first cell goes on the one above. */
export function simpleTable(source: readonly string[]): SourceTable {
  const [first = ''] = source;
  const bounds = [...first.matchAll(/=+/g)].map(({ index, 0: mark }) => ({
    start: index,
    end: index + mark.length,
  }));
  const rules = source.flatMap((line, at) => (simpleRule.test(line) ? [at] : []));
  const rows: TableCell[][] = [];
  let headerRows = 0;
  let isAfterBlank = true;
  let above = '';
  source.forEach((line, at) => {
    if (at > 0 && at === rules[1] && rules.length > 2) headerRows = rows.length;
    if (simpleRule.test(line) || line.trim() === '') {
      isAfterBlank = true;
      return;
    }
    const isJoin = /^[\s-]*-[\s-]*$/.test(line);
    if (isJoin) {
      rows[Math.max(0, rows.length - 1)] = mergedCells(above, line, bounds);
      return;
    }
    const texts = bounds.map(({ start }, column) => line.slice(start, bounds[column + 1]?.start).trim());
    const cells = rows.at(-1);
    if (texts[0] === '' && cells && !isAfterBlank)
      rows[rows.length - 1] = cells.map((cell, column) => ({
        ...cell,
        text: `${cell.text} ${texts[column] ?? ''}`,
      }));
    else rows.push(texts.map((text) => ({ text })));
    isAfterBlank = false;
    above = line;
  });
  return { rows, ...(headerRows > 0 && { headerRows }) };
}

/** The cells of a line whose columns the dashes below it join. */
function mergedCells(line: string, dashes: string, bounds: readonly Bounds[]): TableCell[] {
  const runs = [...dashes.matchAll(/-+/g)].map(({ index, 0: mark }) => ({
    start: index,
    end: index + mark.length,
  }));
  return runs.map(({ start, end }, at) => ({
    text: line.slice(start, runs[at + 1]?.start),
    columns: Math.max(1, bounds.filter((column) => column.start >= start && column.start < end).length),
  }));
}

/** The table of a list of lists: each outer item is a row. */
export function listTable(lines: readonly string[], headerRows: number, stubColumns: number): SourceTable {
  const rows: { text: string; names?: 'row' }[][] = [];
  for (const line of lines) {
    const [, outer, inner = ''] = /^\s*([*+-])\s+[*+-](?:\s+(.*))?$/.exec(line) ?? [];
    const cell = /^\s+[*+-](?:\s+(.*))?$/.exec(line);
    if (outer !== undefined) rows.push([{ text: inner }]);
    else if (cell) rows.at(-1)?.push({ text: cell[1] ?? '' });
    else if (line.trim() !== '' && rows.at(-1)?.length) rows.at(-1)!.at(-1)!.text += `\n${line.trim()}`;
  }
  for (const row of rows) for (const cell of row.slice(0, stubColumns)) cell.names = 'row';
  return { rows, ...(headerRows > 0 && headerRows < rows.length && { headerRows }) };
}
