import { monthOf } from './cells/date-value.js';
import type { Ready } from './language/index.js';
import type { Marks, ValueMention } from './mentions.js';
import type { Table } from './cells/table.js';
import { isTypo, stem, stemsOf, type Word } from './cells/words.js';

/** The stems of the cells of a table that name something: texts, not numbers or dates. */
export interface CellWords {
  /** The stems of each cell with spaces around them, by column, then by row. */
  readonly texts: ReadonlyMap<number, readonly string[]>;
  /** The stems of the elements of cells that list several, in columns of such cells. */
  readonly elements: ReadonlyMap<number, readonly (readonly string[])[]>;
  /** All stems. */
  readonly vocabulary: ReadonlySet<string>;
}

/** Splits the cells of the text columns into stems. */
export function cellWordsOf({ columns, rows }: Table): CellWords {
  const vocabulary = new Set<string>();
  const textOfCell = (cell: string) => {
    const stems = stemsOf(cell);
    for (const stem of stems) vocabulary.add(stem);
    return ` ${stems.join(' ')} `;
  };
  const named = columns.filter(({ kind }) => kind === 'text');
  const texts = new Map(
    named.map(({ index }) => [index, rows.map(({ cells }) => textOfCell(cells[index]!))]),
  );
  const elements = new Map(
    named.flatMap(({ index }) => {
      const lists = rows.map(({ cells }) => cells[index]!.split(listSeparator));
      return isListColumn(lists) ? [[index, lists.map((list) => list.map(textOfCell))] as const] : [];
    }),
  );
  return { texts, elements, vocabulary };
}

/** What separates the elements of a cell: `S3, S3 Wide`. */
const listSeparator = /\s*[,;/|]\s*|\s+(?:and|und)\s+/u;

/** Whether cells list elements: some have several, and most of the elements are in more than one row. */
function isListColumn(lists: readonly (readonly string[])[]): boolean {
  if (lists.every(({ length }) => length < 2)) return false;
  const counts = new Map<string, number>();
  for (const list of lists) for (const one of list) counts.set(one, (counts.get(one) ?? 0) + 1);
  const repeated = [...counts.values()].filter((count) => count > 1).length;
  return repeated > counts.size / 2;
}

const maxPhrase = 10;

/** Whole cells in the question, the longest first. A single word that means nothing alone is not one. */
export function findWholeValues(
  words: readonly Word[],
  cells: CellWords,
  marks: Marks,
  language: Ready,
): ValueMention[] {
  const byText = wholeCells(cells);
  return spansOf(words.length, maxPhrase).flatMap((span) => {
    const rows = byText.get(textOf(words, span));
    if (!rows || (span.end - span.start === 1 && isEmptyWord(words[span.start]!, language))) return [];
    if (!marks.take(span, 'value')) return [];
    return [{ kind: 'value' as const, ...span, rows, isWhole: true, isNegated: false, isTypo: false }];
  });
}

/** The rows of each whole cell, and of each element of a cell that lists several: by its text, then by its column. */
function wholeCells({ texts, elements }: CellWords): Map<string, Map<number, Set<number>>> {
  const byText = new Map<string, Map<number, Set<number>>>();
  for (const [column, list] of texts)
    for (const [row, text] of list.entries())
      for (const one of new Set([text, ...(elements.get(column)?.[row] ?? [])])) {
        if (one.length < 3) continue;
        const rowsOf = getOrAdd(byText, one.slice(1, -1), () => new Map<number, Set<number>>());
        getOrAdd(rowsOf, column, () => new Set<number>()).add(row);
      }
  return byText;
}

/** Cells that are the name of a month: `April` is a date only where no cell has this name. */
export function findNamedTimes(
  words: readonly Word[],
  cells: CellWords,
  marks: Marks,
  language: Ready,
): ValueMention[] {
  const months = words.map((word) => (monthOf(word.text) === -1 ? { ...word, stem: '' } : word));
  return findWholeValues(months, cells, marks, language);
}

/** Words of the question that are next to each other in cells: `first aid` of `First aid, refresher`. */
export function findParts(
  words: readonly Word[],
  cells: CellWords,
  marks: Marks,
  { language, minWords }: { language: Ready; minWords: number },
): ValueMention[] {
  return spansOf(words.length, maxPhrase)
    .filter(({ start, end }) => end - start >= minWords)
    .flatMap((span) => {
      if (isEmptyWord(words[span.start]!, language) || isEmptyWord(words[span.end - 1]!, language)) return [];
      if (!marks.isFree(span.start, span.end)) return [];
      if (!words.slice(span.start, span.end).every(({ stem }) => cells.vocabulary.has(stem))) return [];
      const rows = rowsWith(textOf(words, span), cells);
      if (rows.size === 0 || !marks.take(span, 'value')) return [];
      return [{ kind: 'value' as const, ...span, rows, isWhole: false, isNegated: false, isTypo: false }];
    });
}

/** Words that negate a word of the cells, and words with a typing error. */
export function findVariants(
  words: readonly Word[],
  cells: CellWords,
  marks: Marks,
  language: Ready,
): ValueMention[] {
  const { vocabulary } = cells;
  return words.flatMap((word, start) => {
    if (!marks.isFree(start) || isEmptyWord(word, language)) return [];
    const span = { start, end: start + 1 };
    const positive = word.text.replace(language.negativePrefix, '');
    const isNegated = positive !== word.text && vocabulary.has(stem(positive));
    const typo =
      isNegated || word.stem.length < 5
        ? undefined
        : [...vocabulary].find((known) => known.length > 4 && isTypo(known, word.stem));
    const meant = isNegated ? stem(positive) : typo;
    if (meant === undefined) return [];
    marks.take(span, 'value');
    return [
      {
        kind: 'value' as const,
        ...span,
        rows: rowsWith(meant, cells),
        isWhole: false,
        isNegated,
        isTypo: !isNegated,
      },
    ];
  });
}

function rowsWith(text: string, cells: CellWords): Map<number, Set<number>> {
  const found = new Map<number, Set<number>>();
  const wanted = ` ${text} `;
  for (const [column, list] of cells.texts) {
    const rows = list.flatMap((cell, row) => (cell.includes(wanted) ? [row] : []));
    if (rows.length > 0) found.set(column, new Set(rows));
  }
  return found;
}

/** A word that names nothing alone. */
function isEmptyWord({ text, written }: Word, { fillers, negations, joins, yesNo }: Ready): boolean {
  const isPlain = fillers.has(text) || negations.has(text) || joins.has(text) || yesNo.has(text);
  return isPlain && !/^\p{Lu}\p{Lu}+$/u.test(written);
}

/** All spans of at most `max` words, the longer ones first. */
function spansOf(length: number, max: number): { start: number; end: number }[] {
  const spans: { start: number; end: number }[] = [];
  for (let size = Math.min(max, length); size > 0; size -= 1)
    for (let start = 0; start + size <= length; start += 1) spans.push({ start, end: start + size });
  return spans;
}

function textOf(words: readonly Word[], { start, end }: { start: number; end: number }): string {
  return words
    .slice(start, end)
    .map((word) => word.stem)
    .join(' ');
}

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
