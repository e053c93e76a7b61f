/** A cell of a row as the ingestion writes it, `header: value`. */
interface Cell {
  readonly header: string;
  readonly value: string;
}

/** A wider table, or one with longer cells, is hard to read: its rows become lists of names and values. */
const maxColumns = 8;
const maxCellWords = 25;

/**
 * Rows `header: value; header: value` as a table in Markdown, or as one list for each row where the table would be too
 * wide. Undefined where a row has other parts than pairs, or a single one.
 */
export function tableOf(rows: readonly string[]): string | undefined {
  const parsed = rows.map(cellsOf);
  if (parsed.some((cells) => cells === undefined || cells.length < 2)) return undefined;
  const cells = parsed as Cell[][];
  const headers = [...new Set(cells.flatMap((row) => row.map(({ header }) => header)))];
  const isNarrow =
    headers.length <= maxColumns &&
    cells.flat().every(({ value }) => value.split(/\s+/).length <= maxCellWords);
  if (!isNarrow) return cells.map(listOf).join('\n\n');
  const body = cells.map((row) =>
    line(headers.map((name) => row.find(({ header }) => header === name)?.value ?? '')),
  );
  return [line(headers), line(headers.map(() => '---')), ...body].join('\n');
}

function line(values: readonly string[]): string {
  return `| ${values.map(escaped).join(' | ')} |`;
}

function listOf(row: readonly Cell[]): string {
  return row
    .map(({ header, value }) => (header === '' ? `- ${value}` : `- **${header}**: ${value}`))
    .join('\n');
}

/** The cells of a row. A later part without a header continues the value before it. */
function cellsOf(row: string): Cell[] | undefined {
  const cells: Cell[] = [];
  for (const part of row.split('; ')) {
    const [, header, value] = /^([^:]{1,60}): (.*)$/s.exec(part) ?? [];
    const before = cells.at(-1);
    if (header !== undefined && !cells.some((cell) => cell.header === header))
      cells.push({ header, value: value! });
    // The first column of a table may have no header.
    else if (!before && header === undefined) cells.push({ header: '', value: part });
    else if (before) cells[cells.length - 1] = { ...before, value: `${before.value}; ${part}` };
    else return undefined;
  }
  return cells;
}

function escaped(cell: string): string {
  return cell.replaceAll('|', String.raw`\|`);
}
