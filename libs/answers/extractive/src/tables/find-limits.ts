import { currencyOf, dimensionOf, isCurrency } from './cells/cell-value.js';
import { datesIn, monthOf, utc } from './cells/date-value.js';
import { phraseAt } from './find-phrases.js';
import type { Phrase, Ready } from './language/index.js';
import type { Comparison } from './language/lexicon.js';
import type { ColumnMention, LimitMention, Marks, Span } from './mentions.js';
import type { Word } from './cells/words.js';

interface Context {
  readonly question: string;
  readonly words: readonly Word[];
  readonly marks: Marks;
  readonly language: Ready;
  readonly adjectives: readonly ColumnMention[];
}

interface Said {
  readonly comparison: Comparison;
  readonly start: number;
  readonly adjective?: ColumnMention;
}

/** The minutes of a time of day. */
const clockOf = (text = '') => {
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})$/.exec(text) ?? [];
  return hours === undefined ? undefined : Number(hours) * 60 + Number(minutes);
};
/** The unit of limits that are a time of day. */
export const clock = 'clock';

const isKnownUnit = (text: string) =>
  isCurrency(text) || dimensionOf(text)[0] !== currencyOf(text) || currencyOf(text) === '%';

const isCurrencySign = (text: string) => /^(?:[€$£¥]|eur|usd|gbp|chf)$/.test(text);

/** The comparison before a number: a phrase, or a comparative with `than`. */
function comparisonBefore({ words, marks, language, adjectives }: Context, at: number): Said | undefined {
  const before = isCurrencySign(words[at - 1]?.text ?? '') ? at - 1 : at;
  const [one, than] = [before - 2, before - 1];
  if (language.than.has(words[than]?.text ?? '')) {
    const adjective = adjectives.find(
      ({ start, adjective: about }) => start === one && about?.form === 'comparative',
    );
    if (adjective) return { comparison: adjective.adjective!.isHigh ? '>' : '<', start: one, adjective };
  }
  for (let size = 6; size > 0; size -= 1) {
    const start = before - size;
    if (start < 0) continue;
    const found = phraseAt(words, start, language.comparisons);
    if (found?.span.end !== before) continue;
    if (!marks.isFree(start, before)) continue;
    return { comparison: found.meaning, start };
  }
  return undefined;
}

function comparisonAfter(words: readonly Word[], at: number, phrases: readonly Phrase<Comparison>[]) {
  return phraseAt(words, at, phrases) ?? (isUnit(words[at]) ? phraseAt(words, at + 1, phrases) : undefined);
}

const isUnit = (word: Word | undefined) => word !== undefined && /^[\p{L}€$£%°]+$/u.test(word.text);

/** The value of a number in a question: `1,299.00`, `1.299,00`, `3`, `three`, `2k`. */
function numberOf(word: Word | undefined, { numbers, code }: Ready): number | undefined {
  if (!word) return undefined;
  const text = word.text;
  const time = clockOf(text);
  if (time !== undefined) return time;
  if (/^\d+$/.test(text)) return Number(text);
  if (/^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(text)) return Number(text.replaceAll(',', ''));
  if (/^\d{1,3}(?:\.\d{3})+(?:,\d+)?$/.test(text) && (code === 'de' || text.includes(',')))
    return Number(text.replaceAll('.', '').replace(',', '.'));
  if (/^\d+[.,]\d+$/.test(text)) return Number(text.replace(',', '.'));
  return numbers.get(text);
}

/** The numbers of a question with their comparisons and units. Numbers that say nothing stay unexplained. */
export function findNumbers(context: Context): LimitMention[] {
  const { words, marks, language } = context;
  const found: LimitMention[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const from = numberOf(words[at], language);
    if (from === undefined || !marks.isFree(at) || isCountOfExtreme(context, at)) continue;
    const before = comparisonBefore(context, at);
    const isRange = before?.comparison === 'between' || before?.comparison === '>=';
    const second = isRange ? secondNumber(context, at + 1) : undefined;
    const last = second?.at ?? at;
    const after = comparisonAfter(words, last + 1, language.comparisonsAfter);
    if (before?.comparison === 'between' && !second) continue;
    const unitAt = isCurrencySign(words[at - 1]?.text ?? '') && marks.isFree(at - 1) ? at - 1 : last + 1;
    const unit =
      isUnit(words[unitAt]) && marks.isFree(unitAt) && !language.joins.has(words[unitAt]!.text)
        ? words[unitAt]!.text
        : '';
    const rate = unitAt > last ? rateAt(context, unitAt) : undefined;
    if (rate !== undefined) marks.take({ start: unitAt, end: unitAt + 2 }, 'unit');
    else if (unit !== '' && isKnownUnit(unit)) marks.take({ start: unitAt, end: unitAt + 1 }, 'unit');
    const start = Math.min(before?.start ?? at, unit !== '' && unitAt < at ? unitAt : at);
    const comparison = second ? 'between' : (after?.meaning ?? before?.comparison ?? '=');
    const end = Math.max(last + 1, after?.span.end ?? 0);
    for (let index = start; index < end; index += 1) marks.take({ start: index, end: index + 1 }, 'limit');
    found.push({
      kind: 'number',
      start,
      end,
      comparison,
      from,
      to: second?.number ?? from,
      unit: clockOf(words[at]!.text) === undefined ? (rate ?? unit) : clock,
      isYear: /^(?:1[5-9]|20|21)\d\d$/.test(words[at]!.text) && unit === '',
      isSaid: before !== undefined || after !== undefined,
      ...(before?.adjective && { adjective: before.adjective }),
    });
  }
  return found;
}

/** A unit of two words that the question joins with a slash: `km/h`. */
function rateAt({ words, marks, question }: Context, at: number): string | undefined {
  const [over, under] = [words[at], words[at + 1]];
  const isRate = over && under && question.slice(over.end, under.start) === '/' && marks.isFree(at, at + 2);
  return isRate ? `${over.text}/${under.text}` : undefined;
}

/** `three largest`, `top 5` */
function isCountOfExtreme({ words, language, adjectives }: Context, at: number): boolean {
  const isExtreme = (index: number) => {
    const text = words[index]?.text ?? '';
    const isSuperlative = adjectives.some(
      ({ start, adjective }) => start === index && adjective?.form === 'superlative',
    );
    return (
      isSuperlative ||
      [language.maxima, language.minima, language.firsts, language.lasts].some((set) => set.has(text))
    );
  };
  return (
    isExtreme(at + 1) ||
    (isExtreme(at - 1) && !['least', 'most', 'maximum', 'minimum', 'maximal'].includes(words[at - 1]!.text))
  );
}

/** The second number of a range, after `and`, `to` or a unit. */
function secondNumber(
  { words, marks, language }: Context,
  start: number,
): { at: number; number: number } | undefined {
  for (let at = start + 1; at <= start + 3; at += 1) {
    const number = numberOf(words[at], language);
    const joined = words.slice(start, at).some(({ text }) => ['and', 'to', 'und', 'bis'].includes(text));
    if (number !== undefined && joined && marks.isFree(at)) return { at, number };
  }
  return undefined;
}

/** The dates of a question: whole dates, months and years with their comparisons. */
export function findDates(context: Context): LimitMention[] {
  const { words, marks, question } = context;
  const found: LimitMention[] = [];
  for (const date of datesIn(question)) {
    const start = words.findIndex((word) => word.end > date.start);
    const end = words.findLastIndex((word) => word.start < date.end) + 1;
    if (start === -1 || !marks.take({ start, end }, 'date')) continue;
    const before = comparisonBefore(context, start);
    if (before) marks.take({ start: before.start, end: start }, 'limit');
    const last = found.at(-1);
    const joined =
      last && ['between', '>='].includes(last.comparison) && last.isSaid && start - last.end <= 2;
    if (joined && last) {
      for (let index = last.end; index < start; index += 1)
        marks.take({ start: index, end: index + 1 }, 'limit');
      found[found.length - 1] = { ...last, comparison: 'between', to: date.to, end };
      continue;
    }
    found.push(
      limitOf('date', { start: before?.start ?? start, end }, { from: date.from, to: date.to, before }),
    );
  }
  return [...found, ...findMonths(context)];
}

function limitOf(
  kind: 'date' | 'month',
  span: Span,
  { from, to, before }: { from: number; to: number; before: Said | undefined },
): LimitMention {
  return {
    kind,
    ...span,
    comparison: before?.comparison ?? '=',
    from,
    to,
    unit: '',
    isYear: false,
    isSaid: before !== undefined,
  };
}

const monthWord =
  /^(?:january|february|march|april|june|july|august|september|october|november|december|januar|februar|marz|juni|juli|oktober|dezember)$/;
const beforeMonth = /^(?:in|of|during|after|before|since|until|im|by|from|vor|nach|seit|ab|bis)$/;

/** Names of months without a day or a year. */
function findMonths(context: Context): LimitMention[] {
  const { words, marks } = context;
  return words.flatMap((word, start) => {
    const previous = words[start - 1]?.text ?? '';
    const isMay =
      /^(?:may|mai)$/.test(word.text) && /^\p{Lu}/u.test(word.written) && beforeMonth.test(previous);
    if (!(monthWord.test(word.text) || isMay) || !marks.take({ start, end: start + 1 }, 'date')) return [];
    const before = comparisonBefore(context, start);
    const isIn = before === undefined;
    if (before) marks.take({ start: before.start, end: start }, 'limit');
    const number = monthOf(word.text === 'marz' ? 'mar' : word.text);
    return [
      limitOf(
        'month',
        { start: isIn ? start : before.start, end: start + 1 },
        { from: number, to: number, before },
      ),
    ];
  });
}

/** The range of a year in milliseconds. */
export function yearRange(from: number, to = from): { from: number; to: number } {
  return { from: utc(from, 0, 1), to: utc(to + 1, 0, 1) };
}
