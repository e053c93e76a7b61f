/** Parts of a date or a time in a format code, and marks of literals. */
const part = /\[(h+|m+|s+)\]|y+|m+|d+|h+|s+(?:\.0+)?|AM\/PM|A\/P|[^]/gi;
const millisecondsOfDay = 86_400_000;
/** Days from 1899-12-30, day 0 of a workbook, to the day 0 of Unix and to that of the other date system. */
const [unixDay, day1904] = [25_569, 1_462];
/** The last day of a workbook: 9999-12-31. */
const lastDay = 2_958_465;
const months = 'January February March April May June July August September October November December'.split(
  ' ',
);
const days = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/** Shows a stored number as the sheet does; undefined where it cannot. */
export type ShowNumber = (stored: string) => string | undefined;

/**
 * Reads the code of a date or a time; undefined for other codes. Dates are shown in the order of the code, with all digits
 * of the year.
 */
export function dateFormatOf(
  code: string,
  restore: (part: string) => string,
  uses1904: boolean,
): ShowNumber | undefined {
  if (!/[ymdhs]/i.test(code.replaceAll(/AM\/PM|A\/P/gi, '')) || /[#?]|general/i.test(code)) return undefined;
  const parts = code.match(part) ?? [];
  const isMinute = parts.map((text, at) => /^m{1,2}$/i.test(text) && isBesideTime(parts, at));
  const uses12Hours = parts.some((text) => /^A/i.test(text) && text.includes('/'));
  return (stored) => {
    const day = Number(stored) + (uses1904 ? day1904 : 0);
    if (!(day >= 0 && day <= lastDay + 1)) return undefined;
    // A workbook stores times as fractions of a day, which are not exact.
    const time = Math.round(day * millisecondsOfDay);
    const date = new Date(time - unixDay * millisecondsOfDay);
    return parts
      .map(
        (text, at) => shownPart(text, { date, time, isMinute: isMinute[at]!, uses12Hours }) ?? restore(text),
      )
      .join('')
      .trim();
  };
}

const isPart = (text: string) => /^\[?[ymdhs]/i.test(text);

/** Whether the nearest other parts are hours or seconds: then `m` is minutes. */
function isBesideTime(parts: readonly string[], at: number): boolean {
  const before = parts.slice(0, at).findLast(isPart) ?? '';
  const after = parts.slice(at + 1).find(isPart) ?? '';
  return /^\[?h/i.test(before) || /^\[?s/i.test(after);
}

interface Moment {
  date: Date;
  /** Milliseconds since day 0. */
  time: number;
  isMinute: boolean;
  uses12Hours: boolean;
}

/** The text of a part; undefined for a literal. */
function shownPart(text: string, { date, time, isMinute, uses12Hours }: Moment): string | undefined {
  const pad = (value: number) => String(value).padStart(Math.min(2, text.replace(/\..*/, '').length), '0');
  const code = text.toLowerCase();
  if (code.startsWith('[h')) return String(Math.floor(time / 3_600_000));
  if (code.startsWith('[m')) return String(Math.floor(time / 60_000));
  if (code.startsWith('[s')) return String(Math.floor(time / 1_000));
  if (isMinute) return pad(date.getUTCMinutes());
  if (/^am?\/pm?$/.test(code)) return date.getUTCHours() < 12 ? 'AM' : 'PM';
  if (/^y+$/.test(code)) return String(date.getUTCFullYear());
  if (/^m+$/.test(code))
    return nameOf(months[date.getUTCMonth()]!, text.length) ?? pad(date.getUTCMonth() + 1);
  if (/^d+$/.test(code)) return nameOf(days[date.getUTCDay()]!, text.length) ?? pad(date.getUTCDate());
  if (/^h+$/.test(code)) return pad(uses12Hours ? date.getUTCHours() % 12 || 12 : date.getUTCHours());
  if (/^s+/.test(code)) return pad(date.getUTCSeconds()) + fractionOf(date, code);
  return undefined;
}

const nameOf = (name: string, letters: number) =>
  letters < 3 ? undefined : letters === 3 ? name.slice(0, 3) : name;

function fractionOf(date: Date, code: string): string {
  const decimals = /\.(0+)/.exec(code)?.[1]?.length ?? 0;
  const digits = String(date.getUTCMilliseconds()).padStart(3, '0').slice(0, decimals);
  return decimals === 0 ? '' : `.${digits}`;
}
