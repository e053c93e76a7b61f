import { operationOf } from './operation.js';
import { formOf, type Ready } from './language/index.js';
import type { ColumnMention, Reading, Span } from './mentions.js';
import { predicatesOf } from './predicates.js';
import type { Predicate } from './predicate.js';
import type { Plan, Planning, Operation } from './planning.js';
import type { Table } from './cells/table.js';
import { targetsOf } from './targets.js';

/** Plans the answer to a question. Undefined where the question is not about this table, or is not understood. */
export function planFor(reading: Reading, table: Table, language: Ready): Plan | undefined {
  const { asked } = reading;
  if (
    asked?.meaning === 'why' ||
    asksForRest(reading, table, language) ||
    tooVague(reading) ||
    isConditional(reading, language)
  )
    return undefined;
  const head = headOf(reading);
  const predicates = predicatesOf({ reading, table, language, head });
  if (!predicates) return undefined;
  const free = reading.columns.filter((mention) => !predicates.used.has(mention));
  const planning: Planning = { reading, table, language, predicates, head, free };
  if (!isVerbAllowed(planning) || needsSubject(planning)) return undefined;
  const operation = operationOf(planning);
  if (!operation || hasOpenComparison(planning, operation)) return undefined;
  const targets = targetsOf(planning, operation);
  if (!targets) return undefined;
  const conditions = predicates.list;
  return {
    operation,
    targets,
    conditions,
    reading,
    coverage: coverageOf(reading),
    certainty: certaintyOf(reading, conditions),
  };
}

/** Whether a question asks for what is left of an amount, of which the table has what is taken. */
function asksForRest({ words }: Reading, { columns }: Table, { rest, taken }: Ready): boolean {
  return (
    words.some(({ text }) => rest.has(text)) &&
    columns.some(({ stems, kind }) => kind === 'number' && stems.some((stem) => taken.has(stem)))
  );
}

/** Whether a question names neither a cell nor a column, or has several words that mean nothing here. */
function tooVague({
  unknown,
  values,
  columns,
  limits,
  presences,
  compared,
  extremes,
  subjects,
}: Reading): boolean {
  const isNothing =
    values.length + columns.length + limits.length + presences.length === 0 &&
    !compared &&
    !extremes.some(({ columns, isTime }) => subjects.length > 0 || (columns.length > 0 && !isTime));
  return unknown.length > 1 || (isNothing && subjects.length === 0);
}

/** `what happens if …`, `what do I do when …`: not a question for a cell. */
function isConditional({ words, asked }: Reading, { conditions }: Ready): boolean {
  return words.some(
    ({ text }, at) =>
      conditions.has(text) ||
      (asked !== undefined && at >= asked.end && (text === 'when' || text === 'where')),
  );
}

/** Whether a pronoun stands for something that was named before, and that the question does not name. */
function needsSubject({ reading, predicates, language }: Planning): boolean {
  // `How many blades does it have`: the blades are not the thing, whose name comes later if at all.
  const from =
    reading.asked?.meaning === 'count'
      ? reading.words.findIndex(({ text }) => language.pronouns.has(text))
      : 0;
  const isNamed = predicates.list.some(
    ({ kind, isNegated, start }) => kind === 'value' && !isNegated && start >= from,
  );
  return (
    !isNamed &&
    reading.words.some(
      ({ text }, at) =>
        language.pronouns.has(text) && reading.marks.at(at) !== 'value' && !isInside(at, reading.compared),
    )
  );
}

const isInside = (at: number, span: Span | undefined) =>
  span !== undefined && at >= span.start && at < span.end;

/**
 * One unknown word may be the verb between the rows and a cell: `which courses does Ada give`. Where the condition is a
 * number or a date, where several columns have the cell, or where the word may be a name, it may change what is asked.
 */
function isVerbAllowed({ reading, predicates, language }: Planning): boolean {
  const [unknown] = reading.unknown;
  if (unknown === undefined) return true;
  const { written } = reading.words[unknown]!;
  const [value] = reading.values;
  const isAlone =
    predicates.list.length === 1 &&
    predicates.list[0]!.kind === 'value' &&
    value?.rows.size === 1 &&
    value.isWhole;
  const isAdjective = language.concepts.some(({ high, low }) =>
    [...high, ...low].some((one) => formOf(reading.words[unknown]!.text, one, language)),
  );
  const isComparison = language.comparisons.some(({ words }) => words.includes(reading.words[unknown]!.text));
  if (isAdjective || isComparison) return false;
  const isVerb =
    /^\p{Ll}+$/u.test(written) &&
    unknown > 0 &&
    !['the', 'a', 'an', 'of', 'der', 'die', 'das'].includes(reading.words[unknown - 1]!.text);
  const follows =
    reading.asked?.meaning === 'which' ||
    reading.asked?.meaning === 'count' ||
    reading.asked?.meaning === 'person' ||
    reading.asked?.meaning === 'what';
  const isNear =
    value !== undefined &&
    (unknown === value.end || unknown === value.start - 1 || unknown === value.start - 2);
  return isAlone && isVerb && follows && isNear && !predicates.list[0]!.isNegated;
}

/** A comparative that no condition and no operation explains. */
function hasOpenComparison({ reading, predicates, language, free }: Planning, { kind }: Operation): boolean {
  if (kind === 'difference' || kind === 'is-more') return false;
  const isExplained = (at: number) =>
    predicates.list.some(({ start, end }) => at >= start && at < end) || reading.marks.at(at) !== 'filler';
  const isOpen = reading.words.some(
    ({ text }, at) => language.than.has(text) && text !== 'als' && !isExplained(at),
  );
  return (
    isOpen || (kind !== 'extreme' && free.some(({ adjective }) => adjective && adjective.form !== 'positive'))
  );
}

/** The column right after the question word, or after a word of quantity or an extreme. */
function headOf({ asked, columns, marks, extremes, cues, words }: Reading): ColumnMention | undefined {
  if (!asked || !['which', 'what', 'count', 'amount'].includes(asked.meaning)) return undefined;
  return columns.find(({ start, adjective, columns: [column] }) => {
    if (adjective || start < asked.end || start - asked.end > 4) return false;
    // `how many injured players`: a condition.
    if (column?.kind === 'boolean' && asked.meaning !== 'what') return false;
    for (let at = asked.end; at < start; at += 1) {
      const isBetween =
        marks.at(at) === 'cue' ||
        marks.at(at) === 'subject' ||
        marks.at(at) === 'value' ||
        extremes.some((one) => at >= one.start && at < one.end);
      const isArticle = ['the', 'other', 'of', 'a', 'many', 'all', 'our', 'der', 'die', 'das'].includes(
        words[at]!.text,
      );
      if (!isBetween && !isArticle) return false;
    }
    return asked.meaning !== 'what' || start === asked.end || cues.size > 0 || extremes.length > 0;
  });
}

function coverageOf({ words, marks, unknown }: Reading): number {
  const explained = words.filter((_word, at) =>
    ['value', 'column', 'presence', 'limit', 'date', 'subject', 'adjective'].includes(marks.at(at) ?? ''),
  );
  return explained.length - 2 * unknown.length;
}

function certaintyOf({ unknown, values, columns }: Reading, conditions: readonly Predicate[]): number {
  const parts = conditions.filter(({ isPart }) => isPart).length;
  const typos =
    values.filter(({ isTypo }) => isTypo).length + columns.filter(({ by }) => by === 'typo').length;
  return Math.max(0.5, 0.95 - 0.05 * parts - 0.1 * typos - 0.15 * unknown.length);
}
