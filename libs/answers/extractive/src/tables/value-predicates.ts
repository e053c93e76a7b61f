import type { ColumnMention, Reading, Span, ValueMention } from './mentions.js';
import { writtenIn, type Predicate, type PredicateContext } from './predicate.js';
import type { Column } from './cells/table.js';

/** The conditions of cells that the question names; values of one column are joined. */
export function valuePredicates(
  context: PredicateContext,
  mentions: readonly ValueMention[],
  used: Set<ColumnMention>,
): Predicate[] {
  const { reading } = context;
  const list: Predicate[] = [];
  for (const mention of mentions) {
    const column = columnOfValue(mention, context, used);
    const rows = mention.rows.get(column.index)!;
    const next: Predicate = {
      kind: 'value',
      start: mention.start,
      end: mention.end,
      column,
      holds: (row) => rows.has(row),
      text: `${column.name}: ${writtenIn(reading, mention)}`,
      isNegated: mention.isNegated,
      isPart: !mention.isWhole,
      alternatives: 1,
    };
    const before = list.at(-1);
    const joined =
      before?.column === column && before.isNegated === next.isNegated
        ? joinOf(before, next, context)
        : undefined;
    if (joined) list[list.length - 1] = joined;
    else list.push(next);
  }
  return list;
}

/** Two values of one column: `Linz or Graz`, or two parts of one cell. */
function joinOf(
  before: Predicate,
  next: Predicate,
  { reading, table, language }: PredicateContext,
): Predicate | undefined {
  const between = reading.words.slice(before.end, next.start).map(({ text }) => text);
  const hasJoin = between.some((text) => language.joins.has(text) || language.than.has(text));
  const isPlain =
    between.length <= 4 &&
    !reading.negations.some(
      ({ start }) =>
        start >= before.end && start < next.start && !language.alternatives.has(reading.words[start]!.text),
    );
  const both = table.rows.some((_row, row) => before.holds(row) && next.holds(row));
  const isEither = !both && (hasJoin || between.length === 0) && isPlain;
  if (!isEither && !(both && !hasJoin)) return undefined;
  return {
    ...before,
    end: next.end,
    text: `${before.column.name}: ${writtenIn(reading, { start: before.start, end: next.end })}`,
    isPart: before.isPart || next.isPart,
    alternatives: isEither ? before.alternatives + 1 : before.alternatives,
    holds: isEither
      ? (row) => before.holds(row) === true || next.holds(row) === true
      : (row) => before.holds(row) === true && next.holds(row) === true,
  };
}

/** The column of a value: one that the question names, a label of the row, or the first one with it. */
function columnOfValue(
  { rows, start, end }: ValueMention,
  { reading, table, head }: PredicateContext,
  used: Set<ColumnMention>,
): Column {
  const possible = table.columns.filter(({ index }) => rows.has(index));
  if (possible.length === 1 && head?.columns[0] !== possible[0]) {
    const own = reading.columns.find(
      (mention) =>
        mention !== head && mention.columns[0] === possible[0] && isBeside(mention, { start, end }),
    );
    if (own) used.add(own);
  }
  if (possible.length === 1) return possible[0]!;
  const others = possible.filter((column) => column !== head?.columns[0]);
  const named = reading.columns.find(
    (mention) =>
      mention !== head &&
      isBeside(mention, { start, end }) &&
      others.some((column) => mention.columns.includes(column)),
  );
  if (named && !isTargetOf(named, reading, start)) {
    used.add(named);
    return others.find((column) => named.columns.includes(column))!;
  }
  const label = others.find((column) => table.labels.includes(column));
  return label ?? others[0] ?? possible[0]!;
}

const isBeside = (mention: Span, value: Span) =>
  mention.end + 2 >= value.start && mention.start <= value.end + 2;

/** `the manager of X`: the column is asked for, and is not a condition. */
function isTargetOf({ start, end }: ColumnMention, { words, asked }: Reading, value: number): boolean {
  const link = words.slice(end, value).map(({ text }) => text);
  const isFirst = asked !== undefined && start >= asked.end && start - asked.end <= 3;
  return (
    end <= value && isFirst && link.some((text) => ['of', 'for', 'von', 'fur', 'des', 'der'].includes(text))
  );
}
