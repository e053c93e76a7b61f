import { dimensionOf } from './cells/cell-value.js';
import type { Column, Table } from './cells/table.js';
import { wordSet, type Word } from './cells/words.js';
import { phraseAt } from './find-phrases.js';
import type { Ready } from './language/index.js';
import { reordering } from './language/reordering.js';
import type { ColumnMention, ComparedColumns, Marks, PresenceMention } from './mentions.js';

interface Found {
  readonly words: readonly Word[];
  readonly columns: readonly ColumnMention[];
  readonly presences: readonly PresenceMention[];
  readonly marks: Marks;
}

/** Words between a comparison and the column after it: `below the minimum level`. */
const between = wordSet(
  'the a an its their his her our was were it der die das dem den des ihr ihrem ihren sein seinem',
);
/** Limit for the words between the comparative and `than`: `more in stock than`. */
const maxBetween = 4;
const moreWords = new Map<string, ComparedColumns['comparison']>([
  ['more', '>'],
  ['mehr', '>'],
  ['less', '<'],
  ['fewer', '<'],
  ['weniger', '<'],
]);

/**
 * The comparison of two columns of a table that a question asks for: `below their reorder level`, `cost more than
 * planned`, `which items must be reordered`. Marks its words. Undefined where there is none, or where it is not clear
 * which columns are compared.
 */
export function findComparedColumns(
  found: Found,
  table: Table,
  language: Ready,
): ComparedColumns | undefined {
  const { words, columns, marks } = found;
  for (const mention of columns) {
    const right = mention.columns.find(isNumeric);
    const said = right && !mention.adjective ? comparisonBefore(found, mention.start, language) : undefined;
    if (!right || !said) continue;
    const left = leftOf(right, { ...found, at: mention.start, adjective: said.adjective }, table);
    if (!left) continue;
    const span = { start: said.start, end: mention.end };
    for (let at = span.start; at < span.end; at += 1) marks.take({ start: at, end: at + 1 }, 'limit');
    return { ...span, comparison: said.comparison, left, right };
  }
  return reorderedOf(words, marks, table);
}

const isNumeric = ({ kind }: Column) => kind === 'number' || kind === 'duration';

interface Said {
  readonly start: number;
  readonly comparison: ComparedColumns['comparison'];
  readonly adjective?: ColumnMention;
}

/** The comparison that ends before a word: a phrase, or a comparative with `than`. */
function comparisonBefore({ words, columns }: Found, at: number, language: Ready): Said | undefined {
  let end = at;
  while (end > 0 && between.has(words[end - 1]!.text)) end -= 1;
  for (let start = Math.max(0, end - 6); start < end; start += 1) {
    const phrase = phraseAt(words, start, language.comparisons);
    if (phrase?.span.end === end && phrase.meaning !== 'between')
      return { start, comparison: phrase.meaning };
  }
  if (!language.than.has(words[end - 1]?.text ?? '')) return undefined;
  for (let start = end - 2; start >= Math.max(0, end - 2 - maxBetween); start -= 1) {
    const adjective = columns.find((one) => one.start === start && one.adjective?.form === 'comparative');
    if (adjective) {
      const isDegree = moreWords.has(words[start - 1]?.text ?? '');
      const comparison = adjective.adjective!.isHigh ? '>' : '<';
      return { start: isDegree ? start - 1 : start, comparison, adjective };
    }
    const comparison = moreWords.get(words[start]!.text);
    if (comparison) return { start, comparison };
  }
  return undefined;
}

/** The column that is compared with another one: the named one, or the only other one with the same unit. */
function leftOf(
  right: Column,
  { columns, presences, at, adjective }: Found & { at: number; adjective: ColumnMention | undefined },
  { columns: all }: Table,
): Column | undefined {
  const [dimension] = dimensionOf(right.unit);
  const fits = (column: Column) =>
    column !== right && isNumeric(column) && dimensionOf(column.unit)[0] === dimension;
  const candidates = all.filter(fits);
  const said = [
    ...(adjective ? [adjective.columns] : []),
    ...presences.map(({ column }) => [column]),
    ...columns
      .filter(({ start }) => start < at)
      .toReversed()
      .map((mention) => mention.columns),
  ];
  for (const meant of said) {
    const column = meant.find(fits);
    if (column) return column;
  }
  const stocks = candidates.filter(({ stems }) => stems.some((stem) => reordering.stock.has(stem)));
  if (stocks.length === 1) return stocks[0];
  return candidates.length === 1 ? candidates[0] : undefined;
}

/** Not the noun of `the reorder quantity`. */
const isReordering = (word: string, before: string) =>
  reordering.verbs.has(word) && (word !== 'reorder' || reordering.before.has(before));

/** `which items must be reordered`: those whose stock is not above the column that says when. */
function reorderedOf(words: readonly Word[], marks: Marks, table: Table): ComparedColumns | undefined {
  const at = words.findIndex(({ text }, index) => isReordering(text, words[index - 1]?.text ?? ''));
  if (at === -1) return undefined;
  const numeric = table.columns.filter(isNumeric);
  const levels = numeric.filter(({ stems }) => stems.some((stem) => reordering.levels.has(stem)));
  const stocks = numeric.filter(
    (column) => !levels.includes(column) && column.stems.some((stem) => reordering.stock.has(stem)),
  );
  const [right, left] = [levels[0], stocks[0]];
  if (!right || !left || levels.length > 1 || stocks.length > 1) return undefined;
  marks.take({ start: at, end: at + 1 }, 'limit');
  return { start: at, end: at + 1, comparison: '<=', left, right };
}
