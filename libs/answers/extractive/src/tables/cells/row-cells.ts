/** Cells of a row by the name of their column. */
type Cells = ReadonlyMap<string, string>;

interface ParsedRow {
  readonly cells: Cells;
  /** Index of the row's text. */
  readonly source: number;
}

const separator = '; ';
const maxHeader = 80;
/** Share of the rows that have a header: a rarer one after a long text may be a part of this text. */
const minShare = 0.2;
/** Words of a cell from which it is a text that may contain `; ` and `: `. */
const longCell = 7;

/**
 * The cells of rows `header: value; header: value`. A part without a header continues the value before it. Rows without
 * headers have the columns of the first row, if this one may be a header. Undefined where rows have neither.
 */
export function rowsAsCells(rows: readonly string[]): ParsedRow[] | undefined {
  const headers = headersOf(rows);
  if (headers.size === 0) return withFirstAsHeader(rows);
  const parsed = rows.map((row, source) => ({ cells: cellsOf(row, headers), source }));
  return parsed.filter(({ cells }) => cells.size > 0);
}

/** Names of columns in the order of the table: each after the one before it in its row. */
export function namesOfColumns(rows: readonly Cells[]): string[] {
  const names: string[] = [];
  // Rows with all cells give the order.
  for (const cells of rows.toSorted((left, right) => right.size - left.size)) {
    let at = 0;
    for (const name of cells.keys()) {
      const known = names.indexOf(name);
      if (known === -1) names.splice(at, 0, name);
      at = Math.max(at, (known === -1 ? at : known) + 1);
    }
  }
  return names;
}

/** How many rows have a part that begins with `header: `, and how many words stand before it. */
function headersOf(rows: readonly string[]): Set<string> {
  const seen = new Map<string, { rows: number; afterText: number }>();
  for (const row of rows) {
    const own = new Set<string>();
    let before = '';
    for (const part of row.split(separator)) {
      const header = headerOf(part);
      if (header !== undefined && !own.has(header)) {
        own.add(header);
        const known = seen.get(header) ?? { rows: 0, afterText: 0 };
        const afterText = known.afterText + Number(before.split(/\s+/).length >= longCell);
        seen.set(header, { rows: known.rows + 1, afterText });
      }
      before = header === undefined ? `${before} ${part}` : part.slice(header.length + 2);
    }
  }
  const isHeader = ({ rows: count, afterText }: { rows: number; afterText: number }) =>
    rows.length < 3 || count >= minShare * rows.length || afterText < count;
  return new Set([...seen].filter(([, counts]) => isHeader(counts)).map(([header]) => header));
}

function headerOf(part: string): string | undefined {
  const at = part.indexOf(': ');
  return at > 0 && at <= maxHeader ? part.slice(0, at) : undefined;
}

function cellsOf(row: string, headers: ReadonlySet<string>): Cells {
  const cells = new Map<string, string>();
  let last: string | undefined;
  for (const part of row.split(separator)) {
    const header = headerOf(part);
    if (header !== undefined && headers.has(header) && !cells.has(header)) {
      cells.set(header, part.slice(header.length + 2).trim());
      last = header;
    } else if (last === undefined) {
      // The first column of a table may have no header.
      cells.set('', part.trim());
      last = '';
    } else cells.set(last, `${cells.get(last)!}${separator}${part.trim()}`);
  }
  return cells;
}

/** Rows of cells without headers, as in a PDF. */
function withFirstAsHeader(rows: readonly string[]): ParsedRow[] | undefined {
  const parts = rows.map((row) => row.split(separator).map((part) => part.trim()));
  const [names = [], ...body] = parts;
  const isTable =
    names.length >= 2 && body.length >= 2 && body.every(({ length }) => length === names.length);
  const areNames =
    new Set(names).size === names.length &&
    names.every((name) => !/\d{2}/.test(name) && name.split(/\s+/).length <= 5);
  if (!isTable || !areNames) return undefined;
  return body.map((cells, index) => ({
    source: index + 1,
    cells: new Map(names.map((name, column) => [name, cells[column]!])),
  }));
}
