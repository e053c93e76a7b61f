import type { Cue } from './language/lexicon.js';
import type { Phrase, Ready } from './language/index.js';
import { columnsOf } from './find-columns.js';
import type { ColumnMention, ExtremeMention, Marks, PresenceMention, Reading, Span } from './mentions.js';
import type { Column, Table } from './cells/table.js';
import type { Word } from './cells/words.js';

/** Where a phrase is in the words from `start` on. */
export function phraseAt<Meaning>(
  words: readonly Word[],
  start: number,
  phrases: readonly Phrase<Meaning>[],
): { span: Span; meaning: Meaning } | undefined {
  const found = phrases.find((phrase) =>
    phrase.words.every((word, index) => words[start + index]?.text === word),
  );
  return found && { span: { start, end: start + found.words.length }, meaning: found.meaning };
}

/** The first question word: the subject may come before it (`In which city …`). */
export function findAsked(words: readonly Word[], marks: Marks, { asked }: Ready): Reading['asked'] {
  for (let start = 0; start < words.length; start += 1) {
    const found = phraseAt(words, start, asked);
    if (found && marks.take(found.span, 'asked')) return { ...found.span, meaning: found.meaning };
  }
  return undefined;
}

/** Words that say what is done with the rows: `total`, `on average`. */
export function findCues(words: readonly Word[], marks: Marks, { cues }: Ready): Map<Cue, Span> {
  const found = new Map<Cue, Span>();
  for (let start = 0; start < words.length; start += 1) {
    const cue = phraseAt(words, start, cues);
    // `what does this mean`
    const isVerb = cue?.meaning === 'mean' && words[start]?.text === 'mean' && asksMeaning(words);
    // An instruction begins a question; `name` and `count` in the middle are nouns.
    const isPlaced =
      cue?.meaning !== 'list' ||
      start === 0 ||
      words[start - 1]?.text === 'please' ||
      words[start - 1]?.text === 'bitte';
    if (cue && isPlaced && !isVerb && marks.take(cue.span, 'cue')) found.set(cue.meaning, cue.span);
  }
  return found;
}

const asksMeaning = (words: readonly Word[]) =>
  words.some(({ text }, at) => text === 'what' && ['does', 'do', 'did'].includes(words[at + 1]?.text ?? ''));

/** `in stock`, `sold out`, where a column says this. */
export function findPresence(
  words: readonly Word[],
  table: Table,
  marks: Marks,
  language: Ready,
): PresenceMention[] {
  const stock = language.concepts.find(({ name }) => name === 'stock');
  const [column] = stock ? columnsOf(stock, table) : [];
  if (!column) return [];
  return words.flatMap((_word, start) => {
    const found = phraseAt(
      words,
      start,
      [...language.absent, ...language.present].toSorted(
        (left, right) => right.words.length - left.words.length,
      ),
    );
    if (!found || !marks.take(found.span, 'presence')) return [];
    return [{ kind: 'presence' as const, ...found.span, column, isPresent: found.meaning }];
  });
}

/** Words and phrases that negate what follows. */
export function findNegations(
  words: readonly Word[],
  marks: Marks,
  { negations, exceptions }: Ready,
): Span[] {
  return words.flatMap((word, start) => {
    const exception = phraseAt(words, start, exceptions)?.span;
    const span = exception ?? (negations.has(word.text) ? { start, end: start + 1 } : undefined);
    return span && marks.take(span, 'negation') ? [span] : [];
  });
}

/** The number before or after a superlative: `top 3`, `three cheapest`. */
function countNear(
  words: readonly Word[],
  { start, end }: Span,
  marks: Marks,
  { numbers }: Ready,
): { count: number; span?: Span } {
  for (const at of [start - 1, end]) {
    const text = words[at]?.text ?? '';
    const number = /^\d{1,2}$/.test(text) ? Number(text) : numbers.get(text);
    if (number !== undefined && number > 1 && marks.isFree(at))
      return { count: number, span: { start: at, end: at + 1 } };
  }
  return { count: 1 };
}

interface Finding {
  readonly words: readonly Word[];
  readonly adjectives: readonly ColumnMention[];
  readonly marks: Marks;
  readonly language: Ready;
  readonly table: Table;
}

/** `highest`, `first`, `most`, and superlatives of adjectives (`cheapest`, `most expensive`). */
export function findExtremes(finding: Finding): ExtremeMention[] {
  const { words, marks, language } = finding;
  const found = words.flatMap((_word, start): ExtremeMention[] => {
    const extreme = extremeAt(start, finding);
    if (!extreme) return [];
    const near = countNear(words, extreme, marks, language);
    if (near.span) marks.take(near.span, 'count');
    const place = { start: start - 1, end: start };
    const rank = language.ordinals.get(words[place.start]?.text ?? '');
    if (rank !== undefined) marks.take(place, 'count');
    return [{ ...extreme, count: near.count, rank: rank ?? 1 }];
  });
  // `top 3 most expensive`: the first one only counts.
  const [top, own] = found;
  if (top?.isGeneral && own && found.length === 2 && own.start <= top.end + 1)
    return [{ ...own, count: Math.max(top.count, own.count) }];
  // `most recently`: one extreme of time.
  const isPartOfTime = (one: ExtremeMention) =>
    found.some((other) => other.isTime && !one.isTime && other.start === one.end);
  return found.filter((one) => one.columns.length > 0 || !isPartOfTime(one));
}

function extremeAt(
  start: number,
  { words, adjectives, marks, language, table }: Finding,
): ExtremeMention | undefined {
  const { text } = words[start]!;
  const span = { start, end: start + 1 };
  const base = { kind: 'extreme' as const, count: 1, rank: 1, isTime: false };
  const isMost = language.maxima.has(text);
  const isExtreme = isMost || language.minima.has(text);
  const own = adjectives.find((one) => one.start === start && one.adjective?.form === 'superlative');
  if (own)
    return {
      ...base,
      ...span,
      direction: own.adjective!.isHigh ? 'max' : 'min',
      columns: own.columns,
      isGeneral: isExtreme,
    };
  const next = adjectives.find((one) => one.start === start + 1 && one.adjective?.form === 'positive');
  if (isExtreme && marks.take(span, 'extreme'))
    return next
      ? {
          ...base,
          start,
          end: next.end,
          direction: next.adjective!.isHigh === isMost ? 'max' : 'min',
          columns: next.columns,
          isGeneral: false,
        }
      : { ...base, ...span, direction: isMost ? 'max' : 'min', columns: [], isGeneral: true };
  const isLast = language.lasts.has(text);
  if (!(isLast || language.firsts.has(text)) || !marks.take(span, 'extreme')) return undefined;
  return {
    ...base,
    ...span,
    direction: isLast ? 'max' : 'min',
    isTime: true,
    columns: timesOf(table),
    isGeneral: false,
  };
}

const timesOf = ({ columns }: Table): Column[] =>
  columns.filter(({ kind }) => kind === 'date' || kind === 'time');
