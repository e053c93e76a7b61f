import { dimensionOf, isCurrency } from './cells/cell-value.js';
import { formOf, type Ready, type ReadyConcept } from './language/index.js';
import type { ColumnMention, Marks } from './mentions.js';
import type { Column, Table } from './cells/table.js';
import { isTypo, type Word } from './cells/words.js';

/** Headers in the question with all their words, the longest first. */
export function findWholeHeaders(
  words: readonly Word[],
  { columns }: Table,
  marks: Marks,
  { language, minWords }: { language: Ready; minWords: number },
): ColumnMention[] {
  const named = columns
    .map((column) => ({ column, stems: withoutUnit(column) }))
    .filter(({ stems }) => stems.length >= minWords)
    .toSorted((left, right) => right.stems.length - left.stems.length);
  return named.flatMap(({ column, stems }) =>
    words.flatMap((_word, start) => {
      const span = { start, end: start + stems.length };
      const isHere = stems.every((stem, index) => words[start + index]?.stem === stem);
      // `No.` is a header, and `no` negates.
      if (!isHere || (stems.length === 1 && language.negations.has(words[start]!.text))) return [];
      if (!marks.take(span, 'column')) return [];
      return [{ kind: 'column' as const, ...span, columns: [column], by: 'header' as const }];
    }),
  );
}

/** The words of a header without the unit, `Price` of `Price EUR`, unless it is the unit alone. */
function withoutUnit({ stems, name, unit }: Column): readonly string[] {
  if (unit === '' || stems.length < 2) return stems;
  const own = new Set(unit.toLowerCase().split(/\s+/));
  const words = name
    .toLowerCase()
    .split(/[^\p{L}\p{N}%€$£]+/u)
    .filter(Boolean);
  const kept = stems.filter((_stem, index) => !own.has(words[index] ?? ''));
  return kept.length > 0 && isUnitWord(unit) ? kept : stems;
}

const isUnitWord = (unit: string) =>
  isCurrency(unit) || unit === '%' || /^(?:mm|cm|m|km|g|kg|t|l|ml|h|min|s|w|kw)$/i.test(unit);

/** Words of headers: `inspection` of `Next inspection`. Columns with the same word are all meant. */
export function findHeaderWords(
  words: readonly Word[],
  { columns }: Table,
  marks: Marks,
  language: Ready,
): ColumnMention[] {
  const found: ColumnMention[] = [];
  for (let start = 0; start < words.length; start += 1) {
    const { stem, text } = words[start]!;
    if (
      !marks.isFree(start) ||
      stem.length < 2 ||
      (language.fillers.has(text) && !columns.some(({ stems }) => stems.join() === stem))
    )
      continue;
    const meant = columns.filter(({ stems }) => stems.some((one) => isSameOrCompound(one, stem)));
    if (meant.length === 0) continue;
    marks.take({ start, end: start + 1 }, 'column');
    const before = found.at(-1);
    const shared = before?.end === start ? before.columns.filter((column) => meant.includes(column)) : [];
    // Two words of one header next to each other are one mention.
    if (before && shared.length > 0) found[found.length - 1] = { ...before, end: start + 1, columns: shared };
    else found.push({ kind: 'column', start, end: start + 1, columns: byFit(meant, stem), by: 'part' });
  }
  return found;
}

const byFit = (columns: readonly Column[], stem: string) =>
  columns.toSorted(
    (left, right) =>
      Number(right.stems[0] === stem) - Number(left.stems[0] === stem) ||
      left.stems.length - right.stems.length,
  );

/** The same stem, or a German compound that ends with it: `Lagerbestand` and `Bestand`. */
function isSameOrCompound(header: string, asked: string): boolean {
  if (header === asked) return true;
  const [short, long] = header.length < asked.length ? [header, asked] : [asked, header];
  return (
    short.length >= 5 && long.length - short.length >= 3 && (long.endsWith(short) || long.startsWith(short))
  );
}

/** Words that ask for a column by its meaning: `cost`, `expensive`, `drives`. */
export function findConcepts(
  words: readonly Word[],
  table: Table,
  marks: Marks,
  language: Ready,
): ColumnMention[] {
  const texts = new Set(words.map(({ text }) => text));
  const concepts = language.concepts.filter(
    ({ needs }) => needs.size === 0 || [...needs].some((word) => texts.has(word)),
  );
  return words.flatMap((word, start): ColumnMention[] => {
    const span = { start, end: start + 1 };
    if (!marks.isFree(start)) return [];
    const adjectives = adjectivesOf(word, table, { ...language, concepts });
    if (adjectives) {
      const degree = degreeWords.get(words[start - 1]?.text ?? '');
      const { form, isHigh } = adjectives.adjective!;
      // `more expensive`
      if (form === 'positive' && degree !== undefined)
        adjectives.adjective = { form: 'comparative', isHigh: isHigh === degree };
      marks.take(span, 'adjective');
      return [{ kind: 'column', ...span, by: 'concept', ...adjectives }];
    }
    const meant = concepts.filter(({ asked }) => asked.has(word.stem));
    const columns = [...new Set(meant.flatMap((concept) => columnsOf(concept, table)))];
    if (columns.length === 0) return [];
    marks.take(span, 'column');
    return [{ kind: 'column', ...span, columns, by: 'concept', concept: meant[0]!.name }];
  });
}

const degreeWords = new Map([
  ['more', true],
  ['less', false],
  ['mehr', true],
  ['weniger', false],
]);

type Adjective = { -readonly [Name in 'columns' | 'adjective' | 'concept']: ColumnMention[Name] };

function adjectivesOf({ text }: Word, table: Table, language: Ready): Adjective | undefined {
  let first: Adjective | undefined;
  for (const concept of language.concepts) {
    for (const isHigh of [true, false]) {
      const forms = (isHigh ? concept.high : concept.low).flatMap(
        (adjective) => formOf(text, adjective, language) ?? [],
      );
      const columns = forms.length > 0 ? columnsOf(concept, table) : [];
      if (columns.length === 0) continue;
      // Speed in minutes: the fast ones have a small value.
      first ??= { columns, concept: concept.name, adjective: { form: forms[0]!, isHigh } };
      if (columns.some((column) => first!.columns.includes(column) || first!.adjective!.isHigh !== isHigh))
        continue;
      first = { ...first, columns: [...first.columns, ...columns] };
    }
  }
  return first;
}

/** The columns with a meaning: by the words of their headers, then by their unit. */
export function columnsOf(concept: ReadyConcept, { columns }: Table): Column[] {
  const fits = ({ kind }: Column) => concept.kinds?.includes(kind) ?? true;
  const rankOf = ({ stems }: Column) =>
    Math.min(
      ...stems
        .map((stem) =>
          concept.headers.findIndex((header) => header === stem || isSameOrCompound(header, stem)),
        )
        .filter((rank) => rank >= 0),
    );
  const byHeader = columns
    .filter((column) => fits(column) && Number.isFinite(rankOf(column)))
    .toSorted((left, right) => rankOf(left) - rankOf(right));
  const byUnit = columns.filter(
    (column) => fits(column) && !byHeader.includes(column) && hasDimension(column, concept.dimension),
  );
  return [...byHeader, ...byUnit];
}

function hasDimension({ unit, kind }: Column, dimension: string | undefined): boolean {
  if (dimension === undefined) return false;
  if (dimension === 'currency') return isCurrency(unit);
  if (dimension === 'time' && kind === 'duration') return true;
  return unit !== '' && dimensionOf(unit)[0] === dimension;
}

/** Words of headers with a typing error. */
export function findTypos(words: readonly Word[], { columns }: Table, marks: Marks): ColumnMention[] {
  return words.flatMap(({ stem }, start) => {
    if (!marks.isFree(start) || stem.length < 4) return [];
    const meant = columns.filter(({ stems }) => stems.some((one) => one.length > 3 && isTypo(one, stem)));
    if (meant.length === 0) return [];
    marks.take({ start, end: start + 1 }, 'column');
    return [{ kind: 'column' as const, start, end: start + 1, columns: meant, by: 'typo' as const }];
  });
}
