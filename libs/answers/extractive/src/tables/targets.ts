import { columnsOf } from './find-columns.js';
import type { ColumnMention } from './mentions.js';
import type { Operation, Planning } from './planning.js';
import type { Column } from './cells/table.js';

/** The columns that are asked for. Empty: the names of the rows. Undefined: a column that the table does not have. */
export function targetsOf(planning: Planning, operation: Operation): Column[] | undefined {
  const targets = columnsAsked(planning, operation);
  // A row has a code and a name.
  if (targets && targets.length > 1)
    return targets.filter((column) => !planning.table.labels.includes(column));
  const isName =
    targets?.length === 1 && planning.table.labels.includes(targets[0]!) && isNaming(planning, operation);
  return isName ? [] : targets;
}

/** Whether the names of rows are asked for: not the name of a row that has a code. */
function isNaming({ predicates, table }: Planning, { kind }: Operation): boolean {
  return (
    kind !== 'group' &&
    kind !== 'different' &&
    !predicates.list.some(({ column, isNegated }) => table.labels.includes(column) && !isNegated)
  );
}

function columnsAsked(planning: Planning, operation: Operation): Column[] | undefined {
  const { head, free, reading, predicates, table, language } = planning;
  const conditions = new Set(
    predicates.list
      .filter(({ kind, isNegated }) => kind === 'value' && !isNegated)
      .map(({ column }) => column),
  );
  const measure = 'column' in operation ? operation.column : undefined;
  const isFree = (column: Column) => column !== measure && !conditions.has(column);
  const meaning = reading.asked?.meaning;
  if (operation.kind === 'group' || operation.kind === 'different') return [operation.column];
  if (meaning === 'person' || meaning === 'place' || meaning === 'date') {
    const own = columnsFor(meaning, planning, isFree);
    // `who is taller, A or B` asks for one of the named rows.
    const isNamed =
      operation.kind === 'extreme' && [...conditions].some((column) => table.labels.includes(column));
    return own ? [own] : isNamed ? [] : undefined;
  }
  if (meaning === 'amount' && free.length === 0 && measure === undefined) {
    const money = language.concepts.find(({ name }) => name === 'money');
    const price = money && columnsOf(money, table).find(isFree);
    return price && [price];
  }
  if (meaning === 'degree') {
    const degree =
      free.find(({ adjective }) => adjective)?.columns[0] ??
      (free.length === 1 ? free[0]!.columns[0] : undefined);
    return measure ? [] : degree ? [degree] : undefined;
  }
  if (head && meaning === 'which') return head.columns[0] === measure ? [] : [pick(head, isFree)];
  const named = free.filter(({ adjective }) => !adjective || adjective.form === 'positive');
  return distinct(strongest(named).map((mention) => pick(mention, isFree))).filter(
    (column) => column !== measure,
  );
}

/** The likeliest column of a mention that is not a condition already. */
function pick({ columns }: ColumnMention, isFree: (column: Column) => boolean): Column {
  return columns.find(isFree) ?? columns[0]!;
}

const distinct = (columns: readonly Column[]): Column[] => [...new Set(columns)];

/** Headers in the question; without them, synonyms of headers. A synonym next to a header says the same: `cost per day`. */
function strongest(mentions: readonly ColumnMention[]): ColumnMention[] {
  const literal = mentions.filter(({ by }) => by !== 'concept');
  return literal.length > 0 ? literal : mentions.slice(0, 1);
}

function columnsFor(
  meaning: 'person' | 'place' | 'date',
  { reading, table, language, free, head }: Planning,
  isFree: (column: Column) => boolean,
): Column | undefined {
  const isKind = (column: Column) =>
    meaning === 'date' ? column.kind === 'date' || column.kind === 'time' : column.kind === 'text';
  const concepts = language.concepts.filter(({ name }) => name === (meaning === 'date' ? 'happen' : meaning));
  const typical = concepts
    .flatMap((concept) => columnsOf(concept, table))
    .filter((column) => isKind(column) && isFree(column));
  const mentions = free.filter((mention) => mention !== head);
  for (const { columns } of strongest(mentions)) {
    const named = columns.find((column) => isKind(column) && isFree(column));
    const isName = named && table.labels.includes(named) && !typical.includes(named);
    if (named && !isName && isSubjectAsked(meaning, reading, typical)) return named;
  }
  const years =
    meaning === 'date'
      ? table.columns.filter(
          ({ stems, kind }) => kind === 'number' && stems.some((stem) => stem === 'year' || stem === 'jahr'),
        )
      : [];
  const possible =
    meaning === 'date' ? [...new Set([...typical, ...table.columns.filter(isKind), ...years])] : typical;
  if (meaning === 'date') return possible.length === 1 || mentions.length > 0 ? possible[0] : undefined;
  return possible[0];
}

/** `who does Ada manage` asks for the other persons, `who manages Ada` for the manager. */
function isSubjectAsked(
  meaning: string,
  { words, asked }: Planning['reading'],
  typical: readonly Column[],
): boolean {
  const isObject = meaning === 'person' && ['does', 'do', 'did'].includes(words[asked?.end ?? 0]?.text ?? '');
  return !isObject || typical.length === 0;
}
