import { currencyOf, dimensionOf, isCurrency, type CellValue } from './cells/cell-value.js';
import { columnsOf } from './find-columns.js';
import { clock, yearRange } from './find-limits.js';
import type { Ready } from './language/index.js';
import type { ColumnMention, LimitMention, Reading } from './mentions.js';
import type { Column, Table } from './cells/table.js';
import { fold, stem } from './cells/words.js';

/** Whether a cell is within a limit; undefined where it has no value to compare. */
export type Test = (value: CellValue) => boolean | undefined;

/** The column that a limit is about, and the mention that says so. Undefined where it is not clear. */
export function columnOfLimit(
  limit: LimitMention,
  { columns: mentions }: Reading,
  table: Table,
  language: Ready,
): { column: Column; mention?: ColumnMention } | undefined {
  const isTime = limit.kind !== 'number';
  const fits = (column: Column) => (isTime ? column.kind === 'date' : fitsNumber(column, limit, table));
  if (limit.adjective) {
    const column = limit.adjective.columns.find(fits);
    return column && { column };
  }
  const near = nearest(limit, mentions, fits);
  if (near) return near;
  const candidates = table.columns.filter(
    (column) => fits(column) && (isTime || limit.isYear || isMeant(column, limit)),
  );
  const [exact, ...others] = candidates.filter(({ unit }) => unit !== '' && sameUnit(unit, limit.unit));
  if (candidates.length === 1 || (exact && others.length === 0)) return { column: exact ?? candidates[0]! };
  const day = isTime && candidates.find(({ name }) => /^(?:date|datum|when|day)$/i.test(name.trim()));
  if (day) return { column: day };
  if (!isCurrency(limit.unit)) return undefined;
  // Several columns of money: the one that is called price.
  const money = language.concepts.find(({ name }) => name === 'money');
  const first = money && columnsOf(money, table).find((column) => candidates.includes(column));
  return first && { column: first };
}

/** The mention of a fitting column right after the limit, or the last one before it, or the next one after it. */
function nearest(limit: LimitMention, mentions: readonly ColumnMention[], fits: (column: Column) => boolean) {
  const found = mentions.flatMap((mention) => {
    const column = mention.columns.find(fits);
    const gap = mention.start >= limit.end ? mention.start - limit.end : limit.start - mention.end;
    const isAfter = mention.start >= limit.end;
    return column ? [{ column, mention, distance: isAfter && gap > 0 ? gap + 4 : gap }] : [];
  });
  return found.toSorted((left, right) => left.distance - right.distance)[0];
}

function fitsNumber(column: Column, { unit, isYear }: LimitMention, table: Table): boolean {
  const { kind } = column;
  if (unit === clock) return kind === 'time';
  if (isYear && kind === 'date') return true;
  if (kind !== 'number' && kind !== 'duration') return false;
  if (isYear && isYears(column, table)) return true;
  if (unit === '' || !isUnit(unit)) return true;
  if (column.unit === '') return kind !== 'duration' || dimensionOf(unit)[0] === 'time';
  if (dimensionOf(unit)[0] === 'time' && column.stems.includes(stem(fold(unit)))) return true;
  return dimensionOf(column.unit)[0] === dimensionOf(unit)[0];
}

/** Whether a column without a mention is meant by the unit or by its years. */
function isMeant(column: Column, { unit, isYear }: LimitMention): boolean {
  if (isYear) return true;
  if (unit === clock) return column.kind === 'time';
  if (unit === '') return false;
  if (column.stems.includes(stem(fold(unit)))) return true;
  return isUnit(unit) && column.unit !== '' && dimensionOf(column.unit)[0] === dimensionOf(unit)[0];
}

function sameUnit(one: string, two: string): boolean {
  const [left, right] = [dimensionOf(one), dimensionOf(two)];
  return left[0] === right[0] && left[1] === right[1];
}

const isUnit = (unit: string) =>
  isCurrency(unit) ||
  unit.includes('/') ||
  currencyOf(unit) === '%' ||
  dimensionOf(unit)[0] !== currencyOf(unit);

/** Whether the numbers of a column are years. */
export function isYears({ index, kind }: Column, { rows }: Table): boolean {
  const numbers = rows.flatMap(({ values }) => ('number' in values[index]! ? [values[index].number] : []));
  return (
    kind === 'number' &&
    numbers.length > 0 &&
    numbers.every((number) => Number.isInteger(number) && number >= 1000 && number <= 2200)
  );
}

/** Compares the cells of a column with a limit. Undefined where they cannot be compared, e.g. another currency. */
export function testOf(limit: LimitMention, column: Column, table: Table): Test | undefined {
  if (column.kind === 'date') return dateTest(limit, column, table);
  if (column.kind === 'time')
    return (value) => ('end' in value ? compare(limit, value.order, limit.from, limit.to) : undefined);
  const [dimension, factor] =
    limit.unit === '' || !isUnit(limit.unit) ? ['', undefined] : dimensionOf(limit.unit);
  const [own, ownFactor] = dimensionOf(column.unit);
  if (dimension !== '' && column.unit !== '' && own !== dimension) return undefined;
  const scale = factor ?? ownFactor;
  return (value) =>
    hasNumber(value)
      ? compare(limit, orderOf(value, column), limit.from * scale, limit.to * scale)
      : undefined;
}

/** A cell with a number. */
export type Numeric = Extract<CellValue, { readonly number: number }>;

export const hasNumber = (value: CellValue): value is Numeric => 'number' in value;

/** A number in the smallest unit of its dimension. A cell without a unit has that of its column. */
export function orderOf(value: CellValue, { unit }: Column): number {
  if (hasNumber(value)) return value.unit === '' ? value.number * dimensionOf(unit)[1] : value.order;
  return 'order' in value ? value.order : Number.NaN;
}

function compare({ comparison }: LimitMention, value: number, from: number, to: number): boolean {
  return comparison === 'between' ? value >= from && value <= to : isWithin(comparison, value, from);
}

/** Whether a number is above, below or equal to a limit. */
export function isWithin(
  comparison: Exclude<LimitMention['comparison'], 'between'>,
  value: number,
  limit: number,
): boolean {
  switch (comparison) {
    case '>':
      return value > limit;
    case '>=':
      return value >= limit;
    case '<':
      return value < limit;
    case '<=':
      return value <= limit;
    default:
      return value === limit;
  }
}

function dateTest(limit: LimitMention, { index }: Column, { rows }: Table): Test | undefined {
  const years = new Set(
    rows.flatMap(({ values }) => (values[index]!.kind === 'date' ? [yearOf(values[index]!)] : [])),
  );
  const [year] = years;
  if (limit.kind === 'month' && (limit.comparison === '=' || years.size > 1)) {
    if (limit.comparison !== '=') return undefined;
    return (value) =>
      value.kind === 'date' ? new Date(value.order).getUTCMonth() === limit.from : undefined;
  }
  const range = rangeOf(limit, year);
  // A day without a year in a table of several years, or the other way round.
  if (
    range === undefined ||
    (years.size > 1 && isWithoutYear(range.from)) ||
    (year === 0 && !isWithoutYear(range.from))
  )
    return undefined;
  const { from, to } =
    isWithoutYear(range.from) && year !== undefined && year !== 0 ? inYear(range, year) : range;
  return (value) => (value.kind === 'date' ? compareDates(limit, value, from, to) : undefined);
}

const yearOf = (value: CellValue) => ('end' in value ? new Date(value.order).getUTCFullYear() : 0);
const isWithoutYear = (time: number) => new Date(time).getUTCFullYear() < 2;

function rangeOf(
  { kind, from, to, isYear }: LimitMention,
  year: number | undefined,
): { from: number; to: number } | undefined {
  if (kind === 'number') return isYear ? yearRange(from, to) : undefined;
  if (kind !== 'month') return { from, to };
  const start = new Date(Date.UTC(2000, from, 1));
  const end = new Date(Date.UTC(2000, from + 1, 1));
  return inYear({ from: start.getTime(), to: end.getTime() }, year ?? 0);
}

function inYear({ from, to }: { from: number; to: number }, year: number): { from: number; to: number } {
  const first = new Date(from).getUTCFullYear();
  const move = (time: number) => {
    const date = new Date(time);
    return date.setUTCFullYear(date.getUTCFullYear() - first + year);
  };
  return { from: move(from), to: move(to) };
}

function compareDates(
  { comparison }: LimitMention,
  { order }: { order: number },
  from: number,
  to: number,
): boolean {
  switch (comparison) {
    case '>':
      return order >= to;
    case '>=':
      return order >= from;
    case '<':
      return order < from;
    case '<=':
      return order < to;
    default:
      return order >= from && order < to;
  }
}
