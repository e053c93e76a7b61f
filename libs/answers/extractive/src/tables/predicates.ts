import { isThere, writtenIn, type Predicate, type PredicateContext, type Predicates } from './predicate.js';
import { columnOfLimit, isWithin, orderOf, testOf } from './limits.js';
import { flagPredicates } from './flag-predicates.js';
import { valuePredicates } from './value-predicates.js';
import { relativesOf } from './relative.js';
import type { ColumnMention, ComparedColumns } from './mentions.js';

/** The conditions of a question. Undefined where one is not understood: a limit without a column, a negation of nothing. */
export function predicatesOf(context: PredicateContext): Predicates | undefined {
  const { reading, table, language, head } = context;
  const used = new Set<ColumnMention>();
  const list: Predicate[] = [];
  const plain = { isNegated: false, isPart: false, alternatives: 1 };
  for (const limit of reading.limits) {
    const about = columnOfLimit(limit, reading, table, language);
    const test = about && testOf(limit, about.column, table);
    if (!about || !test) return undefined;
    const { mention, column } = about;
    if (mention && mention !== head) used.add(mention);
    const holds = (row: number) => test(table.rows[row]!.values[column.index]!);
    const text = `${column.name} ${writtenIn(reading, limit)} ${limit.unit}`.trim();
    list.push({ ...plain, kind: 'limit', start: limit.start, end: limit.end, column, holds, text });
  }
  const compared = reading.compared && comparedPredicate(reading.compared, context);
  if (compared) {
    list.push({ ...plain, ...compared });
    for (const mention of reading.columns)
      if (
        mention !== head &&
        mention.columns.some((one) => one === compared.column || one === compared.other)
      )
        used.add(mention);
  }
  const presences = reading.presences.filter(({ column }) => column !== compared?.column);
  for (const { start, end, column, isPresent } of presences) {
    const holds = (row: number) => flip(isThere(table.rows[row]!.values[column.index]!), !isPresent);
    const text = `${column.name}: ${writtenIn(reading, { start, end })}`;
    list.push({ ...plain, kind: 'presence', start, end, column, holds, text });
  }
  const relatives = reading.isYesNo ? [] : relativesOf(reading, table, language);
  for (const { mention, start, end, column, holds } of relatives) {
    used.add(mention);
    const text = `${column.name}: ${writtenIn(reading, { start, end })}`;
    list.push({ ...plain, kind: 'limit', start, end, column, holds, text });
  }
  const mentions = reading.values.filter(({ start }) => !relatives.some(({ value }) => value === start));
  list.push(...valuePredicates(context, mentions, used), ...flagPredicates(context, used));
  const negated = withNegations(
    list.toSorted((left, right) => left.start - right.start),
    context,
  );
  return negated && { list: negated, used };
}

/** The rows in which one column is below, above or equal to another one. */
function comparedPredicate(
  { start, end, comparison, left, right }: ComparedColumns,
  { reading, table }: PredicateContext,
): Pick<Predicate, 'kind' | 'start' | 'end' | 'column' | 'other' | 'holds' | 'text'> {
  const holds = (row: number) => {
    const { values } = table.rows[row]!;
    const [own, limit] = [orderOf(values[left.index]!, left), orderOf(values[right.index]!, right)];
    return Number.isNaN(own) || Number.isNaN(limit) ? undefined : isWithin(comparison, own, limit);
  };
  const text = `${left.name} ${writtenIn(reading, { start, end })}`;
  return { kind: 'limit', start, end, column: left, other: right, holds, text };
}

const flip = (holds: boolean | undefined, isFlipped: boolean) =>
  holds === undefined ? undefined : holds !== isFlipped;

/** Negates the condition after each negation. Undefined where a negation has none. */
function withNegations(list: readonly Predicate[], { reading }: PredicateContext): Predicate[] | undefined {
  let result = [...list];
  for (const negation of reading.negations) {
    const isInside = result.some(({ start, end }) => negation.start > start && negation.start < end);
    if (isInside) continue;
    const next =
      result.find(({ start }) => start >= negation.end) ?? (result.length === 1 ? result[0] : undefined);
    if (!next) return undefined;
    result = result.map((one) => (one === next ? { ...one, isNegated: !one.isNegated } : one));
  }
  return result.map((one) => (one.isNegated ? { ...one, holds: (row) => flip(one.holds(row), true) } : one));
}
