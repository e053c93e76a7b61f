import { dimensionOf } from './cells/cell-value.js';
import { hasNumber, orderOf } from './limits.js';
import { aggregates, format, withUnit } from './cells/number-text.js';
import type { Operation, Plan } from './planning.js';
import type { Column, Table } from './cells/table.js';

/** The result of a plan. */
export interface Result {
  /** The short answer: values as written, or a computed number. */
  readonly values: readonly string[];
  /** Indices of the rows that it rests on. */
  readonly rows: readonly number[];
  /** Yes or no. */
  readonly is?: boolean;
  /** Number of rows whose cells had no value to compute with. */
  readonly skipped: number;
}

/** Computes a plan over the rows of a table. Undefined where it cannot be computed: no row, mixed units, doubtful ranks. */
export function compute(plan: Plan, table: Table): Result | undefined {
  const { operation, targets, conditions } = plan;
  const all = table.rows.map((_row, row) => row);
  const rows = withoutMixed(
    all.filter((row) => conditions.every(({ holds }) => holds(row) === true)),
    plan,
    table,
  );
  switch (operation.kind) {
    case 'count':
      return { values: [String(rows.length)], rows, skipped: 0 };
    case 'different':
      return { values: [String(distinctCells(table, rows, [operation.column]).length)], rows, skipped: 0 };
    case 'share':
      return share(rows, all.length);
    case 'sum':
    case 'mean':
    case 'median':
      return aggregate(operation, table, rows);
    case 'extreme':
      return extreme(operation, table, rows, targets);
    case 'end': {
      const kept =
        operation.direction === 'max' ? rows.slice(-operation.count) : rows.slice(0, operation.count);
      return kept.length === 0 ? undefined : { values: named(table, kept, targets), rows: kept, skipped: 0 };
    }
    case 'group':
      return group(operation, table, rows);
    case 'difference':
      return difference(operation.column, table, rows);
    case 'yes-no':
      return yesNo(plan, table);
    case 'is-more':
      return isMore(operation, plan, table);
    default:
      return { values: named(table, rows, targets), rows, skipped: 0 };
  }
}

/**
 * `which customers have not returned anything`: a customer of several rows is one only if no row says the opposite. Rows
 * of other questions are kept.
 */
function withoutMixed(rows: number[], { operation, targets, conditions }: Plan, table: Table): number[] {
  const [target] = targets;
  const isOfGroups = target && targets.length === 1 && !target.isUnique && !table.labels.includes(target);
  if (
    !isOfGroups ||
    !['rows', 'cell', 'different'].includes(operation.kind) ||
    !conditions.some(({ isNegated }) => isNegated)
  )
    return rows;
  const others = conditions.filter(({ isNegated }) => !isNegated);
  const opposite = new Set(
    table.rows.flatMap(({ cells }, row) =>
      others.every(({ holds }) => holds(row) === true) && !rows.includes(row) ? [cells[target.index]!] : [],
    ),
  );
  return rows.filter((row) => !opposite.has(table.rows[row]!.cells[target.index]!));
}

/** The cells of the asked columns of some rows, each text once. */
function named(table: Table, rows: readonly number[], targets: readonly Column[]): string[] {
  return distinctCells(table, rows, targets.length > 0 ? targets : table.labels);
}

/** The cells of columns in a row as one text. */
export function textOf(table: Table, row: number, columns: readonly Column[]): string {
  return columns
    .map(({ index }) => table.rows[row]!.cells[index]!)
    .filter((cell) => cell !== '')
    .join(', ');
}

function distinctCells(table: Table, rows: readonly number[], columns: readonly Column[]): string[] {
  return [...new Set(rows.map((row) => textOf(table, row, columns)).filter((text) => text !== ''))];
}

function share(rows: readonly number[], all: number): Result | undefined {
  if (rows.length === 0) return undefined;
  const percent = ((100 * rows.length) / all).toFixed(1).replace(/\.0$/, '');
  return { values: [`${percent} %`], rows, skipped: 0 };
}

type Numeric = Extract<Operation, { kind: 'sum' | 'mean' | 'median' }>;

function aggregate({ kind, column }: Numeric, table: Table, rows: readonly number[]): Result | undefined {
  const used = rows.filter((row) => hasNumber(table.rows[row]!.values[column.index]!));
  if (used.length === 0) return undefined;
  // The only cell is shown as written.
  if (used.length === 1 && rows.length === 1)
    return { values: [table.rows[used[0]!]!.cells[column.index]!], rows, skipped: 0 };
  const text = sumOf(kind, column, table, used);
  return text === undefined ? undefined : { values: [text], rows: used, skipped: rows.length - used.length };
}

function sumOf(
  kind: Numeric['kind'],
  column: Column,
  table: Table,
  rows: readonly number[],
): string | undefined {
  const numbers = rows.map((row) => table.rows[row]!.values[column.index]!).filter(hasNumber);
  const units = new Set(numbers.map(({ unit }) => unit));
  const dimensions = new Set([...units].map((unit) => dimensionOf(unit === '' ? column.unit : unit)[0]));
  // Percentages have no sum.
  if (dimensions.size > 1 || (kind === 'sum' && dimensions.has('%'))) return undefined;
  const [first] = numbers;
  const factor = units.size > 1 ? dimensionOf(first!.unit)[1] : 1;
  const all = numbers.map((value) => (units.size > 1 ? value.order / factor : value.number));
  const decimals = Math.max(...numbers.map((value) => value.decimals));
  const digits = kind === 'sum' ? Math.max(decimals, units.size > 1 ? 2 : 0) : Math.max(decimals, 2);
  const text = format(aggregates[kind](all), digits, column, kind !== 'sum' && decimals < 2);
  return withUnit(text, table, rows, column);
}

type Extreme = Extract<Operation, { kind: 'extreme' }>;

function extreme(
  { column, direction, count, rank }: Extreme,
  table: Table,
  rows: readonly number[],
  targets: readonly Column[],
): Result | undefined {
  const orders = new Map(rows.map((row) => [row, orderOf(table.rows[row]!.values[column.index]!, column)]));
  const known = rows.filter((row) => !Number.isNaN(orders.get(row)!));
  if (known.length === 0) return undefined;
  const sign = direction === 'max' ? -1 : 1;
  const sorted = known.toSorted(
    (left, right) => sign * (orders.get(left)! - orders.get(right)!) || left - right,
  );
  const places = [...new Set(sorted.map((row) => orders.get(row)!))];
  if (rank > places.length) return undefined;
  const from = sorted.findIndex((row) => orders.get(row) === places[rank - 1]);
  const ranked = sorted.slice(from);
  const last = orders.get(ranked[Math.min(count, ranked.length) - 1]!)!;
  const best = ranked.filter((row, index) => index < count || orders.get(row) === last);
  return { values: named(table, best, targets), rows: best, skipped: rows.length - known.length };
}

type Group = Extract<Operation, { kind: 'group' }>;

function group({ column, sum, direction }: Group, table: Table, rows: readonly number[]): Result | undefined {
  const groups = new Map<string, { rows: number[]; total: number }>();
  for (const row of rows) {
    const { cells, values } = table.rows[row]!;
    const name = cells[column.index]!;
    if (name === '') continue;
    const value = sum ? values[sum.index]! : undefined;
    const own = groups.get(name) ?? { rows: [], total: 0 };
    groups.set(name, {
      rows: [...own.rows, row],
      total: own.total + (value === undefined ? 1 : hasNumber(value) ? value.number : 0),
    });
  }
  if (groups.size === 0) return undefined;
  const totals = [...groups.values()].map(({ total }) => total);
  const best = direction === 'max' ? Math.max(...totals) : Math.min(...totals);
  const chosen = [...groups].filter(([, { total }]) => total === best);
  // If all groups have the same total, none of them answers.
  if (chosen.length === groups.size && groups.size > 1) return undefined;
  const text = sum ? format(best, 2, column, false) : String(best);
  return {
    values: chosen.map(([name]) => `${name} (${text})`),
    rows: chosen.flatMap(([, one]) => one.rows),
    skipped: 0,
  };
}

function difference(column: Column, table: Table, rows: readonly number[]): Result | undefined {
  const numbers = rows.map((row) => table.rows[row]!.values[column.index]!).filter(hasNumber);
  if (numbers.length !== 2 || rows.length !== 2) return undefined;
  const [one, two] = numbers as [(typeof numbers)[number], (typeof numbers)[number]];
  if (one.unit !== two.unit) return undefined;
  const text = format(Math.abs(one.number - two.number), Math.max(one.decimals, two.decimals), column, false);
  return { values: [withUnit(text, table, rows, column)], rows, skipped: 0 };
}

type More = Extract<Operation, { kind: 'is-more' }>;

function isMore({ column, isHigh }: More, { reading }: Plan, table: Table): Result | undefined {
  const rows = reading.values.slice(0, 2).flatMap((value) => {
    const own = [...value.rows].find(([index]) => table.labels.some((label) => label.index === index));
    return own?.[1].size === 1 ? [...own[1]] : [];
  });
  const [first, second] = rows.map((row) => orderOf(table.rows[row]!.values[column.index]!, column));
  if (first === undefined || second === undefined || Number.isNaN(first) || Number.isNaN(second))
    return undefined;
  return { values: [], rows, is: isHigh ? first > second : first < second, skipped: 0 };
}

/**
 * Yes or no for the row that the question names: whether the other conditions hold. For a question about any row,
 * whether there is one. Undefined where several rows differ, or where a row does not say.
 */
function yesNo({ conditions, targets, reading }: Plan, table: Table): Result | undefined {
  const all = table.rows.map((_row, row) => row);
  const values = conditions.filter(({ kind, isNegated }) => kind === 'value' && !isNegated);
  const named = values.find(({ column }) => table.labels.includes(column));
  const scope = named ? undefined : scopeOf(reading);
  if (scope !== undefined && targets.length === 0) return quantified(scope, conditions, table);
  const subject = named ?? values[0];
  const rows = subject ? all.filter((row) => subject.holds(row) === true) : [];
  const rest = conditions.filter((one) => one !== subject);
  if (!subject || rows.length === 0 || rest.length === 0 || targets.length > 0) return undefined;
  const said = rows.map((row) => rest.map(({ holds }) => holds(row)));
  if (said.some((each) => each.includes(undefined))) return undefined;
  const results = new Set(said.map((each) => each.every(Boolean)));
  return results.size === 1 ? { values: [], rows, is: results.has(true), skipped: 0 } : undefined;
}

/** Whether some row, or each row, meets the conditions. */
function quantified(scope: 'any' | 'all', conditions: Plan['conditions'], table: Table): Result | undefined {
  if (conditions.length === 0) return undefined;
  const all = table.rows.map((_row, row) => row);
  const holding = all.filter((row) => conditions.every(({ holds }) => holds(row) === true));
  const is = scope === 'any' ? holding.length > 0 : holding.length === all.length;
  const shown = scope === 'all' && !is ? all.filter((row) => !holding.includes(row)) : holding;
  return { values: [], rows: shown, is, skipped: 0 };
}

/** Whether a question is about any row (`is there a …`) or about all rows. */
function scopeOf({ words }: Plan['reading']): 'any' | 'all' | undefined {
  const texts = new Set(words.slice(0, 4).map(({ text }) => text));
  if (texts.has('there') || texts.has('es') || texts.has('any')) return 'any';
  return texts.has('all') || texts.has('every') || texts.has('alle') ? 'all' : undefined;
}
