import { columnsOf } from './find-columns.js';
import type { Ready } from './language/index.js';
import type { ColumnMention, ExtremeMention, Reading } from './mentions.js';
import type { Operation, Planning } from './planning.js';
import type { Column, Table } from './cells/table.js';

const isNumeric = ({ kind }: Column) => kind === 'number' || kind === 'duration';
const isTime = ({ kind }: Column) => kind === 'date' || kind === 'time';
const isOrdered = ({ kind }: Column) => kind !== 'text' && kind !== 'boolean';

/** The first column of the mentions that fits. */
export function firstColumn(
  mentions: readonly ColumnMention[],
  fits: (column: Column) => boolean,
): Column | undefined {
  const order = ['header', 'part', 'typo', 'concept'];
  const sorted = mentions.toSorted((left, right) => order.indexOf(left.by) - order.indexOf(right.by));
  for (const { columns } of sorted) {
    const column = columns.find(fits);
    if (column) return column;
  }
  return undefined;
}

/** What a question wants done with the rows. Undefined where this is not clear. */
export function operationOf(planning: Planning): Operation | undefined {
  const { reading, predicates, free } = planning;
  const { asked, cues, extremes } = reading;
  const [extreme] = extremes;
  if (extremes.length > 1) return undefined;
  if (cues.has('times')) return asked ? { kind: 'count' } : undefined;
  const comparison = comparisonOf(planning);
  if (comparison) return comparison;
  if (cues.has('share')) return predicates.list.length === 1 ? { kind: 'share' } : undefined;
  if (cues.has('mean')) return aggregate('mean', planning);
  if (cues.has('median')) return aggregate('median', planning);
  if (extreme) return extremeOf(extreme, planning);
  if (asked?.meaning === 'count' || cues.has('count')) return countOf(planning);
  if (cues.has('sum')) return aggregate('sum', planning);
  if (reading.isYesNo && !isListing(reading)) return { kind: 'yes-no' };
  const isCell =
    free.length > 0 ||
    (asked !== undefined && ['person', 'date', 'place', 'amount', 'degree'].includes(asked.meaning));
  const isOverall = isListing(reading) || reading.words.some(({ text }) => overall.has(text));
  if (predicates.list.length === 0 && !isOverall) return undefined;
  return { kind: isCell && predicates.list.length > 0 ? 'cell' : 'rows' };
}

/** `can you list …`, `could you tell me …` */
const isListing = ({ cues, asked }: Reading) =>
  cues.has('list') ||
  (asked !== undefined && asked.start > 0 && asked.start <= 4 && asked.meaning !== 'degree');

function aggregate(
  kind: 'sum' | 'mean' | 'median',
  { free, table, reading, language }: Planning,
): Operation | undefined {
  const column = firstColumn(free, isNumeric) ?? soleMeasure(table, reading, language);
  return column && { kind, column };
}

/** The column that `how much` means where it is not named: the only one of money. */
function soleMeasure(table: Table, { asked, cues }: Reading, language: Ready): Column | undefined {
  const money = language.concepts.find(({ name }) => name === 'money');
  const columns = money ? columnsOf(money, table) : [];
  const isMoney = asked?.meaning === 'amount' || cues.has('sum');
  return isMoney && columns.length === 1 ? columns[0] : undefined;
}

/** Words of questions for all rows. */
const overall = new Set(['there', 'all', 'every', 'each', 'alle', 'jede', 'gibt']);

function countOf({ reading, free, head, table, predicates }: Planning): Operation | undefined {
  const isSum = reading.cues.has('sum');
  const numeric = head ? head.columns.find(isNumeric) : undefined;
  const isRowNoun =
    head?.columns[0] !== undefined && (table.labels.includes(head.columns[0]) || head.by === 'concept');
  if (numeric && !isRowNoun) {
    // `how many mails do A and B include` asks for both.
    if (!isSum && predicates.list.some(({ kind, alternatives }) => kind === 'value' && alternatives > 1))
      return { kind: 'cell' };
    const isOverall = isSum || reading.words.some(({ text }) => overall.has(text));
    return predicates.list.length > 0 || isOverall ? { kind: 'sum', column: numeric } : undefined;
  }
  const text = head?.columns[0];
  if (text && !isNumeric(text) && !table.labels.includes(text) && !text.isUnique && head.by !== 'concept')
    return { kind: 'different', column: text };
  const measure = firstColumn(
    free.filter((mention) => mention !== head),
    isNumeric,
  );
  if (measure && (isSum || reading.presences.length > 0 || !head)) return { kind: 'sum', column: measure };
  // `how many chairs are in stock` asks for pieces.
  const [stock] = reading.presences;
  if (stock?.isPresent && isNumeric(stock.column) && reading.values.length > 0 && !head)
    return { kind: 'sum', column: stock.column };
  if (
    predicates.list.length === 0 &&
    free.some(
      (mention) => mention !== head && !mention.columns.some((column) => table.labels.includes(column)),
    )
  )
    return undefined;
  return { kind: 'count' };
}

function extremeOf(extreme: ExtremeMention, planning: Planning): Operation | undefined {
  const { free, table, reading, head, predicates } = planning;
  const { direction, count, rank } = extreme;
  const named = free.filter(({ adjective }) => !adjective);
  const after = named.filter(({ start }) => start >= extreme.end);
  const beside = after.filter(({ start, by }) => start <= extreme.end + 1 && by !== 'concept');
  const of = (column: Column): Operation => ({ kind: 'extreme', column, direction, count, rank });
  if (extreme.isTime) {
    const column = firstColumn(named, isTime) ?? firstColumn(after, isOrdered) ?? extreme.columns[0];
    if (column) return of(column);
    return rank === 1 ? { kind: 'end', direction, count } : undefined;
  }
  const literal = firstColumn(beside, isOrdered);
  if (literal && (extreme.isGeneral || extreme.columns.includes(literal))) return of(literal);
  if (extreme.columns.length > 0 && !extreme.isGeneral) return of(extreme.columns[0]!);
  const group = rank === 1 ? groupOf(extreme, planning) : undefined;
  if (group) return group;
  const near = after.filter(({ start }) => start <= extreme.end + 2);
  const others = named.filter((mention) => mention !== head);
  // The most and the fewest are numbers.
  const fits = countWords.has(reading.words[extreme.end - 1]!.text) ? isNumeric : isOrdered;
  const column =
    firstColumn(near, fits) ?? firstColumn(others, fits) ?? firstColumn(named, fits) ?? extreme.columns[0];
  if (column) return of(column);
  const measures = table.columns.filter(isNumeric);
  return predicates.list.length === 0 && reading.unknown.length === 0 && measures.length === 1
    ? of(measures[0]!)
    : undefined;
}

/** `which customer placed the most orders`, `which title was lent most often`, `which city has the highest total` */
function groupOf(
  { direction, end }: ExtremeMention,
  { reading, head, free, table, language }: Planning,
): Operation | undefined {
  const column =
    head?.columns.find((one) => !isOrdered(one) && !one.isUnique) ?? personOf(reading, table, language);
  if (!column || column.isUnique || isOrdered(column)) return undefined;
  const next = free.find(({ start, adjective }) => !adjective && start >= end && start <= end + 1);
  const isOften = ['often', 'frequently', 'haufigsten', 'common', 'times'].includes(
    reading.words[end]?.text ?? '',
  );
  const named = free.filter((mention) => mention !== head && mention.columns.some(isNumeric));
  const isMany = countWords.has(reading.words[end - 1]!.text);
  const isNext = next?.columns.some((one) => table.labels.includes(one) && one !== column) ?? false;
  const isRows = isMany && (reading.subjects.includes(end) || isNext);
  const isLast = isMany && end === reading.words.length && named.length === 0;
  if (isOften || isRows || isLast) return { kind: 'group', column, direction };
  const sum = firstColumn(
    free.filter((mention) => mention !== head),
    isNumeric,
  );
  return sum && reading.cues.has('sum') ? { kind: 'group', column, sum, direction } : undefined;
}

/** Superlatives of numbers of things. */
const countWords = new Set(['most', 'least', 'fewest', 'meisten', 'wenigsten']);

function personOf({ asked }: Reading, table: Table, { concepts }: Ready): Column | undefined {
  if (asked?.meaning !== 'person') return undefined;
  const person = concepts.find(({ name }) => name === 'person');
  return person && columnsOf(person, table)[0];
}

/** Two named rows: which has more, by how much. */
function comparisonOf({ reading, free, predicates, table }: Planning): Operation | undefined {
  const { cues, asked } = reading;
  const [named] = predicates.list;
  const isTwo =
    predicates.list.length === 1 && named!.kind === 'value' && named!.alternatives === 2 && !named!.isNegated;
  const degree = free.find(({ adjective }) => adjective?.form === 'comparative');
  const isMore = reading.words.some(
    ({ text }) => text === 'more' || text === 'less' || text === 'mehr' || text === 'weniger',
  );
  if (!isTwo) return undefined;
  const column = degree?.columns[0] ?? firstColumn(free, isOrdered);
  const isDifference =
    cues.has('difference') ||
    ((asked?.meaning === 'amount' || asked?.meaning === 'degree') && (degree !== undefined || isMore));
  if (isDifference) return column && isNumeric(column) ? { kind: 'difference', column } : undefined;
  if (reading.isYesNo) {
    const isThan = reading.words.some(({ text }) => text === 'than' || text === 'als');
    const isHigh = degree?.adjective?.isHigh ?? true;
    return degree && isThan ? { kind: 'is-more', column: degree.columns[0]!, isHigh } : undefined;
  }
  if (degree)
    return {
      kind: 'extreme',
      column: degree.columns[0]!,
      direction: degree.adjective!.isHigh ? 'max' : 'min',
      count: 1,
      rank: 1,
    };
  const isOrMore =
    isMore &&
    asked !== undefined &&
    ['which', 'what', 'person'].includes(asked.meaning) &&
    column &&
    isNumeric(column);
  const less = reading.words.some(({ text }) => text === 'less' || text === 'weniger');
  if (isOrMore) return { kind: 'extreme', column, direction: less ? 'min' : 'max', count: 1, rank: 1 };
  return table.rows.length > 0 && cues.has('compare') ? { kind: 'cell' } : undefined;
}
