import { orderOf } from './limits.js';
import type { Ready } from './language/index.js';
import type { ColumnMention, Reading, Span } from './mentions.js';
import type { Column, Table } from './cells/table.js';

/** A comparison with the cell of a named row: `longer than the Loire`. */
export interface Relative extends Span {
  readonly column: Column;
  readonly holds: (row: number) => boolean | undefined;
  /** Start of the value that names the row; it is not a condition itself. */
  readonly value: number;
  readonly mention: ColumnMention;
}

/** The comparisons with a named row. Two named rows are compared with each other instead. */
export function relativesOf(
  { words, values, columns, marks }: Reading,
  table: Table,
  language: Ready,
): Relative[] {
  if (values.length !== 1) return [];
  const [value] = values;
  const label = [...value!.rows].find(([index]) => table.labels.some((one) => one.index === index));
  const [row] = label?.[1].size === 1 ? [...label[1]] : [];
  const than = words.findLastIndex(
    ({ text }, at) => at < value!.start && value!.start - at <= 3 && language.than.has(text),
  );
  if (row === undefined || than === -1 || marks.at(than) === 'limit') return [];
  const near = columns.filter(({ start }) => start < than && than - start <= 5);
  const degree = near.findLast(({ adjective }) => adjective?.form === 'comparative');
  const amount = words.slice(Math.max(0, than - 3), than).find(({ text }) => moreOrLess.has(text))?.text;
  const mention = degree ?? (amount === undefined ? undefined : near.at(-1));
  const column = mention?.columns.find(({ kind }) => kind !== 'text' && kind !== 'boolean');
  if (!mention || !column) return [];
  const isMore = degree ? degree.adjective!.isHigh : amount === 'more' || amount === 'mehr';
  const own = orderOf(table.rows[row]!.values[column.index]!, column);
  const holds = (other: number) => {
    const order = orderOf(table.rows[other]!.values[column.index]!, column);
    if (Number.isNaN(order) || Number.isNaN(own)) return undefined;
    return isMore ? order > own : order < own;
  };
  return [
    { start: Math.min(mention.start, than), end: value!.end, column, holds, value: value!.start, mention },
  ];
}

const moreOrLess = new Set(['more', 'less', 'fewer', 'mehr', 'weniger']);
