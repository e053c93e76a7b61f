import { textOf, type Result } from './compute.js';
import { sayings, type Sayings } from './language/sayings.js';
import type { Plan } from './planning.js';
import type { Predicate } from './predicate.js';
import type { Column, Table } from './cells/table.js';

const maxRows = 8;
const maxColumns = 5;
const maxNames = 12;

/** An answer from a table in Markdown: the value in bold, what it is, and the rows that it rests on as a table. */
export function writeTableAnswer(
  plan: Plan,
  result: Result,
  table: Table,
  code: 'en' | 'de',
): { text: string; value: string } {
  const say = sayings[code];
  const { values, rows, is, skipped } = result;
  const shownNames = values.slice(0, maxNames);
  const left = values.length - shownNames.length;
  const value =
    is === undefined
      ? shownNames.join(shownNames.some((name) => name.includes(',')) ? '; ' : ', ')
      : is
        ? say.yes
        : say.no;
  const head = `**${value === '' ? say.none : value}**${left > 0 ? ` ${say.more(left)}` : ''}`;
  const notes = [
    explanation(plan, result, table, say),
    ...(skipped > 0 ? [say.skipped(skipped)] : []),
    ...(table.isWhole || isOneCell(plan, result) ? [] : [say.partial(table.rows.length)]),
  ].filter(Boolean);
  const line = notes.length > 0 ? `${head} – ${notes.join('; ')}.` : head;
  const shown = rows.slice(0, maxRows);
  const rest = rows.length > maxRows ? `\n\n${say.more(rows.length - maxRows)}` : '';
  const body =
    shown.length > 0 ? `\n\n${markdownTable(table, shown, columnsToShow(plan, table))}${rest}` : '';
  return { text: line + body, value: value === '' ? say.none : value };
}

/** A cell of a named row does not depend on the other rows. */
export function isOneCell({ operation, conditions }: Plan, { rows }: Result): boolean {
  const isNamed = conditions.some(({ kind, isNegated }) => kind === 'value' && !isNegated);
  return rows.length === 1 && isNamed && (operation.kind === 'cell' || operation.kind === 'yes-no');
}

function explanation(plan: Plan, { rows, is }: Result, table: Table, say: Sayings): string {
  const { operation, conditions, targets } = plan;
  const where = conditionsText(conditions, table, say);
  const labels = (row: number) => textOf(table, row, table.labels);
  switch (operation.kind) {
    case 'count':
      return joined(say.rows(rows.length, table.rows.length), where);
    case 'different':
      return joined(say.different(nameOf(operation.column)), where);
    case 'share':
      return joined(say.rows(rows.length, table.rows.length), where);
    case 'sum':
    case 'mean':
    case 'median':
      return rows.length === 1 && operation.kind === 'sum'
        ? `${labels(rows[0]!)}, ${nameOf(operation.column)}`
        : joined(say[operation.kind](nameOf(operation.column), rows.length), where);
    case 'extreme':
      return joined(
        say.extreme(
          nameOf(operation.column),
          operation.direction,
          operation.rank,
          textOf(table, rows[0]!, [operation.column]),
        ),
        where,
      );
    case 'group':
      return joined(say.group(operation.direction, operation.sum && nameOf(operation.sum)), where);
    case 'is-more':
      return rows.map((row) => `${labels(row)} ${textOf(table, row, [operation.column])}`).join(', ');
    case 'difference':
      return `${say.difference(nameOf(operation.column))}: ${rows.map((row) => `${labels(row)} ${textOf(table, row, [operation.column])}`).join(', ')}`;
    case 'yes-no':
      if (rows.length !== 1) return joined(say.rows(rows.length, table.rows.length), where);
      return is === undefined
        ? ''
        : `${labels(rows[0]!)}: ${shownColumns(conditions, table)
            .map((column) => `${nameOf(column)} ${textOf(table, rows[0]!, [column])}`.trim())
            .join(', ')}`;
    default:
      return rows.length === 1 && targets.length > 0
        ? [labels(rows[0]!), targets.map(nameOf).join(', ')].filter(Boolean).join(', ')
        : joined(say.rows(rows.length, table.rows.length), where);
  }
}

const joined = (text: string, where: string) => (where === '' ? text : `${text} ${where}`);

const nameOf = ({ name }: Column) => name;

const shownColumns = (conditions: readonly Predicate[], table: Table) =>
  [...new Set(conditions.map(({ column }) => column))].filter((column) => !table.labels.includes(column));

/** Which columns the rows were chosen by, so that a wrong reading of the question is seen. */
function conditionsText(conditions: readonly Predicate[], { labels }: Table, say: Sayings): string {
  const shown = conditions.filter(
    ({ column, kind, isNegated }) => kind !== 'value' || isNegated || !labels.includes(column),
  );
  if (shown.length === 0) return '';
  const texts = shown.map(({ text, isNegated }) => (isNegated ? `${say.not} (${text})` : text));
  return `${say.where} ${texts.join(', ')}`;
}

function columnsToShow({ operation, targets, conditions }: Plan, table: Table): Column[] {
  const measures = 'column' in operation ? [operation.column] : [];
  const sums = 'sum' in operation && operation.sum ? [operation.sum] : [];
  const wanted = new Set([
    ...table.labels,
    ...targets,
    ...measures,
    ...sums,
    ...conditions.flatMap(({ column, other }) => (other ? [column, other] : [column])),
  ]);
  const chosen = [...wanted].slice(0, maxColumns);
  const more = table.columns.filter((column) => !wanted.has(column)).slice(0, Math.max(0, 3 - chosen.length));
  return [...chosen, ...more].toSorted((left, right) => left.index - right.index);
}

const line = (cells: readonly string[]) =>
  `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;

function markdownTable(table: Table, rows: readonly number[], columns: readonly Column[]): string {
  const body = rows.map((row) => line(columns.map(({ index }) => table.rows[row]!.cells[index]!)));
  return [line(columns.map(nameOf)), line(columns.map(() => '---')), ...body].join('\n');
}
