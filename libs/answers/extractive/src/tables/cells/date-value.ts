/** A day or a month: from `order` to `end`, excluded, in milliseconds. */
export interface DateValue {
  readonly kind: 'date';
  readonly order: number;
  readonly end: number;
}

const monthNames: readonly RegExp[] = [
  /^jan/i,
  /^feb/i,
  /^(?:mar|mär|mrz)/i,
  /^apr/i,
  /^(?:may|mai)/i,
  /^jun/i,
  /^jul/i,
  /^aug/i,
  /^sep/i,
  /^(?:oct|okt)/i,
  /^nov/i,
  /^(?:dec|dez)/i,
];

/** The number of a month's name, from 0; -1 for other words. */
export function monthOf(name: string): number {
  return monthNames.findIndex((pattern) => pattern.test(name));
}

const month = String.raw`(?<month>jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|mrz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)\.?`;
const weekday = String.raw`(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,?\s+|(?:mo|di|mi|do|fr|sa|so)(?:ntag|enstag|ttwoch|nnerstag|eitag|mstag|nntag)?\.?,\s+)?`;
const year = String.raw`(?<year>(?:1[5-9]|20|21)\d{2})`;
const day = String.raw`(?<day>[0-3]?\d)`;
const datePatterns: readonly RegExp[] = [
  new RegExp(String.raw`${year}-(?<number>\d{2})(?:-(?<day>\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?)?`, 'iu'),
  new RegExp(String.raw`${weekday}${day}(?:st|nd|rd|th|\.)?\s+(?:of\s+)?${month}(?:,?\s+${year})?`, 'iu'),
  new RegExp(String.raw`${weekday}${month}\s+${day}(?:st|nd|rd|th)?(?:,?\s+${year})?(?!\d)`, 'iu'),
  new RegExp(String.raw`${month}\s+${year}`, 'iu'),
  new RegExp(String.raw`${weekday}${day}\.\s?(?<number>[01]?\d)\.\s?${year}`, 'iu'),
  new RegExp(String.raw`(?<number>[01]?\d)\/${day}\/${year}`, 'iu'),
];
const wholeDates = datePatterns.map((pattern) => new RegExp(`^${pattern.source}$`, 'iu'));
const datesWithin = datePatterns.map(
  (pattern) => new RegExp(String.raw`(?<![\p{L}\p{N}.,-])${pattern.source}(?![\p{L}\p{N}])`, 'giu'),
);

/** A date without a year has this one. */
const anyYear = 0;

/** A day, or a month. Undefined for other texts. */
export function dateValue(text: string): DateValue | undefined {
  for (const pattern of wholeDates) {
    const found = pattern.exec(text.trim());
    const range = found ? rangeOf(found.groups!) : undefined;
    if (range) return { kind: 'date', ...range };
  }
  return undefined;
}

function rangeOf(
  groups: Readonly<Record<string, string | undefined>>,
): { order: number; end: number } | undefined {
  const { number, day: written, year: own } = groups;
  const at = number === undefined ? monthOf(groups['month'] ?? '') : Number(number) - 1;
  const date = written === undefined ? undefined : Number(written);
  if (at < 0 || at > 11 || date === 0 || (date ?? 1) > 31) return undefined;
  const inYear = own === undefined ? anyYear : Number(own);
  return date === undefined
    ? { order: utc(inYear, at, 1), end: utc(inYear, at + 1, 1) }
    : { order: utc(inYear, at, date), end: utc(inYear, at, date + 1) };
}

/** The milliseconds of a day. `Date.UTC` takes years before 100 for years of the twentieth century. */
export function utc(year: number, month: number, date: number): number {
  const at = new Date(Date.UTC(2000, month, date));
  return at.setUTCFullYear(at.getUTCFullYear() - 2000 + year);
}

/** A date within a text: its place and its range. */
export interface DateWithin {
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

/** The dates within a text, not overlapping. */
export function datesIn(text: string): DateWithin[] {
  const found: DateWithin[] = [];
  for (const pattern of datesWithin) {
    for (const one of text.matchAll(pattern)) {
      const range = rangeOf(one.groups!);
      const [start, end] = [one.index, one.index + one[0].length];
      if (range && !found.some((other) => start < other.end && other.start < end))
        found.push({ start, end, from: range.order, to: range.end });
    }
  }
  return found.toSorted((left, right) => left.start - right.start);
}
