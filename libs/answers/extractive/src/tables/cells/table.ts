import {
  cellValue,
  currencyOf,
  decimalOf,
  dimensionOf,
  isCurrency,
  type CellValue,
  type Decimal,
} from './cell-value.js';
import { namesOfColumns, rowsAsCells } from './row-cells.js';
import { stemsOf, wordsOf } from './words.js';

/** The kind of most cells of a column. */
export type ColumnKind = 'number' | 'duration' | 'date' | 'time' | 'boolean' | 'text';

export interface Column {
  readonly index: number;
  /** As written; empty for a column without a header. */
  readonly name: string;
  /** Stems of the header's words. */
  readonly stems: readonly string[];
  readonly kind: ColumnKind;
  /** The unit of the header or of all cells; empty without one. */
  readonly unit: string;
  readonly decimal: Decimal;
  /** No value is in two rows. */
  readonly isUnique: boolean;
}

export interface Row {
  readonly cells: readonly string[];
  readonly values: readonly CellValue[];
  /** Index of the row's text in the source. */
  readonly source: number;
}

export interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** Columns that name a row: a code, a name, or both. */
  readonly labels: readonly Column[];
  /** Words of the title, the headings and the file name, and their stems. */
  readonly about: ReadonlySet<string>;
  /** All rows of the table are known. */
  readonly isWhole: boolean;
}

/** What is known about a table besides its rows. */
export interface TableSource {
  /** Rows as the ingestion writes them: `header: value; header: value`. */
  readonly rows: readonly string[];
  /** Headings, title and file name. */
  readonly about: string;
  readonly isWhole: boolean;
}

/** Rows of sums at the end of a table, which are not data. */
const totalRow =
  /^(?:(?:grand |sub)?totals?|sum|summe|gesamt(?:summe)?|insgesamt|average|mean|durchschnitt|mittelwert)\b/i;
/** Share of the cells with the same kind that gives the kind of a column. */
const minShare = 0.6;
/** Share of different values among the cells of a column that names rows. */
const minDifferent = 0.95;

/** Makes a table of rows. Undefined where these have no columns in common, or fewer than two. */
export function tableOfRows({ rows: texts, about, isWhole }: TableSource): Table | undefined {
  const parsed = rowsAsCells(texts);
  if (!parsed) return undefined;
  const names = namesOfColumns(parsed.map(({ cells }) => cells));
  if (names.length < 2) return undefined;
  const all = parsed.map(({ cells, source }) => ({
    source,
    cells: names.map((name) => cells.get(name) ?? ''),
  }));
  const last = all.at(-1)!;
  const isTotal = all.length > 2 && totalRow.test(last.cells.find((cell) => cell !== '') ?? '');
  const rows = isTotal ? all.slice(0, -1) : all;
  const fallback = decimalOf(
    rows.flatMap(({ cells }) => cells),
    isGermanTable(names) ? ',' : '.',
  );
  const columns = names.map((name, index) =>
    columnOf(
      name,
      index,
      rows.map(({ cells }) => cells[index]!),
      fallback,
    ),
  );
  return {
    columns,
    rows: rows.map(({ cells, source }) => ({
      cells,
      source,
      values: cells.map((cell, index) => valueIn(columns[index]!, cell)),
    })),
    labels: labelsOf(columns, rows),
    about: new Set(wordsOf(about.replaceAll(/[_\-.]/g, ' ')).flatMap(({ stem, text }) => [stem, text])),
    isWhole,
  };
}

function isGermanTable(names: readonly string[]): boolean {
  return names.some((name) => /[äöüß]|preis|menge|kosten|betrag|anzahl|einwohner|datum/i.test(name));
}

/** A column of times has no booleans, and a column of texts has no numbers. */
function valueIn({ kind, decimal }: Column, cell: string): CellValue {
  const value = cellValue(cell, decimal);
  if (value.kind === 'empty' || value.kind === 'none' || value.kind === kind) return value;
  if (kind === 'number' && value.kind === 'duration') return { ...value, kind: 'number' };
  if (kind === 'number' && value.kind === 'boolean' && !value.is) return { kind: 'none' };
  if (value.kind === 'boolean' && kind === 'text') return value;
  return { kind: 'text' };
}

function columnOf(name: string, index: number, cells: readonly string[], fallback: Decimal): Column {
  const decimal = decimalOf(cells, fallback);
  const values = cells.map((cell) => cellValue(cell, decimal));
  const filled = values.filter(({ kind }) => kind !== 'empty' && kind !== 'none');
  const kinds: ColumnKind[] = ['number', 'duration', 'date', 'time', 'boolean'];
  const kind = kinds.find(
    (one) => filled.filter((value) => value.kind === one).length >= minShare * filled.length,
  );
  const isCode =
    kind === 'number' && /^(?:no\.?|nr\.?|nummer|number|id|code|#|plz|zip(?: code)?|postcode)$/i.test(name);
  return {
    index,
    name,
    stems: stemsOf(name),
    kind: filled.length === 0 || isCode ? 'text' : (kind ?? 'text'),
    unit: unitOf(name, values),
    decimal,
    isUnique:
      new Set(cells).size >= minDifferent * cells.length &&
      cells.filter((cell) => cell !== '').length >= minDifferent * cells.length,
  };
}

const isUnit = (word: string) =>
  isCurrency(word) || word === '%' || isRate.test(word) || dimensionOf(word)[0] !== currencyOf(word);

/** A unit of two, such as `km/h`. */
const isRate = /^[\p{L}²³€$£]{1,4}\/[\p{L}²³]{1,4}$/u;

/** The unit in the header, `Weight (kg)` or `Price EUR`, or that of the cells. */
function unitOf(name: string, values: readonly CellValue[]): string {
  const units = new Set(
    values.flatMap((value) => ('unit' in value && value.unit !== '' ? [value.unit] : [])),
  );
  if (units.size > 0) return units.size === 1 ? [...units][0]! : '';
  const words = name.split(/[\s()[\],]+/).filter(Boolean);
  const last = words.findLast(
    (word, at) => isUnit(word) && !/^(?:per|a|an|each|pro|je)$/i.test(words[at - 1] ?? ''),
  );
  const isWord = last !== undefined && (words.length > 1 || isCurrency(last) || /s$/i.test(last));
  return isWord ? last : '';
}

/** A code or number of rows rather than a name. */
const code = /^(?=.*\d)[\p{L}\d]{0,6}[-_/.]?[\p{L}\d]+(?:[-_/.][\p{L}\d]+)*$/u;

function labelsOf(columns: readonly Column[], rows: readonly { cells: readonly string[] }[]): Column[] {
  const texts = columns.filter(({ kind }) => kind === 'text');
  const unique = texts.filter(({ isUnique }) => isUnique);
  const isCode = ({ index }: Column) => rows.every(({ cells }) => code.test(cells[index]!));
  const first = unique[0] ?? texts[0] ?? columns[0]!;
  if (!isCode(first)) return [first];
  const isName = (column: Column) =>
    !isCode(column) && rows.some(({ cells }) => /\p{L}{3}/u.test(cells[column.index]!));
  const second = unique.find((column) => column !== first && isName(column));
  // The column after the code names its row where the names are nearly all different.
  const next = columns[first.index + 1];
  const isNextName =
    next?.kind === 'text' &&
    isName(next) &&
    new Set(rows.map(({ cells }) => cells[next.index])).size > rows.length / 2;
  return [first, ...(isNextName ? [next] : second ? [second] : [])];
}
