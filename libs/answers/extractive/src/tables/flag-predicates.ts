import type { CellValue } from './cells/cell-value.js';
import type { ColumnMention, Reading, Span } from './mentions.js';
import { isThere, type Predicate, type PredicateContext } from './predicate.js';
import type { Column, Table } from './cells/table.js';

/** Columns of yes and no, and columns after `with` and `without`, as conditions. */
export function flagPredicates(
  { reading, table, head }: PredicateContext,
  used: Set<ColumnMention>,
): Predicate[] {
  const list: Predicate[] = [];
  for (const mention of reading.columns) {
    if (used.has(mention) || mention === head || mention.adjective) continue;
    const isWanted = introduces(reading, mention);
    const [column] = mention.columns;
    const isFlag = mention.columns.filter((one) => isFlagColumn(one, table));
    const chosen =
      isFlag.length === 1 && mention.by !== 'concept'
        ? isFlag[0]!
        : isWanted && mention.columns.length === 1
          ? column!
          : undefined;
    const isLimited = reading.limits.some(
      ({ start, end }) => Math.abs(start - mention.end) <= 1 || Math.abs(mention.start - end) <= 1,
    );
    if (!chosen || isLimited || isAskedAfterOf(mention, reading)) continue;
    used.add(mention);
    const holds = (row: number) => holdsFlag(table.rows[row]!.values[chosen.index]!, chosen);
    list.push({
      kind: 'flag',
      start: mention.start,
      end: mention.end,
      column: chosen,
      holds,
      text: chosen.name,
      isNegated: false,
      isPart: false,
      alternatives: 1,
    });
  }
  return list;
}

/** `partly` in a column of yes and no is neither. */
function holdsFlag(value: CellValue, { kind }: Column): boolean | undefined {
  return kind === 'boolean' && value.kind === 'text' ? undefined : isThere(value);
}

/** `what is the hotline of Gold` asks for the column. */
function isAskedAfterOf({ end }: ColumnMention, { words, asked }: Reading): boolean {
  return asked?.meaning === 'what' && ['of', 'for', 'von'].includes(words[end]?.text ?? '');
}

/** Whether most cells of a column say yes or no. */
function isFlagColumn({ index, kind }: Column, { rows }: Table): boolean {
  if (kind === 'boolean') return true;
  const flags = rows.filter(({ values }) => ['boolean', 'none'].includes(values[index]!.kind)).length;
  return (
    kind === 'text' &&
    flags * 2 >= rows.length &&
    rows.some(({ values }) => values[index]!.kind === 'boolean')
  );
}

const introductions = new Set([
  'with',
  'without',
  'no',
  'lack',
  'lacks',
  'lacking',
  'mit',
  'ohne',
  'kein',
  'keine',
  'keinen',
  'any',
]);

/** Verbs that say, before an article, that a row has something: `which loans have a fine`. */
const owning = new Set(['have', 'has', 'had', 'having', 'hat', 'haben']);

/** Whether `with`, `without` or `no` stands before a column. */
function introduces({ words, extremes }: Reading, { start }: Span): boolean {
  const before = words.slice(Math.max(0, start - 2), start).map(({ text }) => text);
  const near =
    before.at(-1) === 'a' || before.at(-1) === 'an' || before.at(-1) === 'any'
      ? before.at(-2)
      : before.at(-1);
  const isOwned = owning.has(near ?? '') && before.at(-1) !== near;
  const isExtreme = extremes.some((extreme) => extreme.end === start);
  return !isExtreme && (isOwned || introductions.has(near ?? ''));
}
