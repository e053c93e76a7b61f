import { dateValue } from './date-value.js';

/** What a cell means. `order` compares values of one kind: a number, minutes, or milliseconds. */
export type CellValue =
  | { readonly kind: 'empty' | 'none' | 'text' }
  | { readonly kind: 'boolean'; readonly is: boolean }
  | {
      readonly kind: 'number' | 'duration';
      readonly order: number;
      /** The number as written, without conversion of its unit. */
      readonly number: number;
      readonly unit: string;
      readonly decimals: number;
    }
  | { readonly kind: 'date' | 'time'; readonly order: number; readonly end: number };

/** The sign between the whole number and its fraction. */
export type Decimal = '.' | ',';

const yes = /^(?:yes|y|true|ja|wahr|✓|✔|✅|x|included|inclusive|enthalten|inklusive)$/i;
const no = /^(?:no|n|false|nein|falsch|✗|✘|❌|not included|nicht enthalten)$/i;
const none = /^(?:[-–—]+|none|n\/?a|nil|keine?[rs]?|ohne|nichts|unknown|unbekannt|\?)$/i;

const numberPattern =
  /^(?:~|≈|ca\.?|about|approx\.?)?\s*(?<before>[€$£¥]|EUR|USD|GBP|CHF|Fr\.|Rs\.?|[A-Z]{3})?\s*(?<sign>[-+−–])?\s*(?<before2>[€$£¥])?\s*(?<number>\p{Nd}[\p{Nd}.,'’\u{a0}\u{202f} ]*)(?<after>[^\p{Nd}]{0,24})$/u;

type Unit = readonly [dimension: string, factor: number];

function named(names: string, dimension: string, factor: number): Record<string, Unit> {
  return Object.fromEntries(names.split(' ').map((name) => [name, [dimension, factor]]));
}

/** Factors of units to the smallest one of their dimension. */
const factors: Readonly<Record<string, Unit>> = {
  ...named('gram grams gramm', 'mass', 1),
  ...named('kilogram kilograms kilogramm kilo kilos', 'mass', 1000),
  ...named('millimetre millimetres millimeter millimeters', 'length', 1),
  ...named('centimetre centimetres centimeter centimeters zentimeter', 'length', 10),
  ...named('metre metres meter meters', 'length', 1000),
  ...named('kilometre kilometres kilometer kilometers', 'length', 1e6),
  ...named('litre litres liter liters', 'volume', 1000),
  mg: ['mass', 0.001],
  g: ['mass', 1],
  kg: ['mass', 1000],
  t: ['mass', 1e6],
  lb: ['mass', 453.592],
  lbs: ['mass', 453.592],
  oz: ['mass', 28.3495],
  mm: ['length', 1],
  cm: ['length', 10],
  m: ['length', 1000],
  km: ['length', 1e6],
  ml: ['volume', 1],
  cl: ['volume', 10],
  l: ['volume', 1000],
  kb: ['data', 1],
  mb: ['data', 1e3],
  gb: ['data', 1e6],
  tb: ['data', 1e9],
  w: ['power', 1],
  kw: ['power', 1000],
  mw: ['power', 1e6],
};

/** Minutes of the units of time, English and German. */
const minutes: readonly (readonly [RegExp, number])[] = [
  [/^(?:s|secs?|seconds?|sekunden?|sek)$/i, 1 / 60],
  [/^(?:min|mins|minutes?|minuten?)$/i, 1],
  [/^(?:h|hrs?|hours?|std|stunden?)$/i, 60],
  [/^(?:d|days?|tage?n?|working days?|werktage?n?|business days?)$/i, 1440],
  [/^(?:weeks?|wochen?|wk|wks)$/i, 10_080],
  [/^(?:months?|monate?n?|mo)$/i, 43_830],
  [/^(?:years?|yrs?|jahre?n?|y)$/i, 525_960],
];

/** The minutes of a unit of time; undefined for other units. */
export function minutesOf(unit: string): number | undefined {
  return minutes.find(([pattern]) => pattern.test(unit.trim().replace(/\.$/, '')))?.[1];
}

/** The dimension of a unit and its factor; a unit of its own where it is not known. */
export function dimensionOf(unit: string): readonly [dimension: string, factor: number] {
  const inMinutes = minutesOf(unit);
  return inMinutes === undefined
    ? (factors[unit.toLowerCase()] ?? [currencyOf(unit), 1])
    : ['time', inMinutes];
}

const currencies: readonly (readonly [RegExp, string])[] = [
  [/^(?:€|eur|euros?)$/i, '€'],
  [/^(?:\$|usd|us\$|dollars?)$/i, '$'],
  [/^(?:£|gbp|pounds?|pfund)$/i, '£'],
  [/^(?:chf|fr\.?|francs?|franken)$/i, 'CHF'],
  [/^(?:%|percent|per cent|prozent)$/i, '%'],
];

/** The sign of a currency or of percent; other units in lower case. */
export function currencyOf(unit: string): string {
  const plain = unit.trim();
  return currencies.find(([pattern]) => pattern.test(plain))?.[1] ?? plain.toLowerCase();
}

/** Whether a unit is a currency. */
export function isCurrency(unit: string): boolean {
  return ['€', '$', '£', 'CHF', '¥'].includes(currencyOf(unit));
}

/** Reads a cell. `decimal`: the sign before the fraction in its column. */
export function cellValue(text: string, decimal: Decimal = '.'): CellValue {
  const cell = text.trim();
  if (cell === '') return { kind: 'empty' };
  if (none.test(cell)) return { kind: 'none' };
  if (yes.test(cell)) return { kind: 'boolean', is: true };
  if (no.test(cell)) return { kind: 'boolean', is: false };
  if (!/\p{Nd}/u.test(cell)) return { kind: 'text' };
  return (
    dateValue(cell) ??
    timeValue(cell) ??
    durationValue(cell, decimal) ??
    numberValue(cell, decimal) ?? { kind: 'text' }
  );
}

/** Reads a number with its unit; undefined for other texts, e.g. a telephone number. */
export function numberValue(
  text: string,
  decimal: Decimal,
): (CellValue & { kind: 'number' | 'duration' }) | undefined {
  const groups = numberPattern.exec(text.trim())?.groups;
  if (!groups) return undefined;
  const written = groups['number']!.trim();
  const parsed = parseNumber(written, decimal);
  if (parsed === undefined) return undefined;
  const sign = /[-−–]/.test(groups['sign'] ?? '') ? -1 : 1;
  const after = groups['after']!.trim();
  if (after.split(/\s+/).length > 3) return undefined;
  const unit = groups['before'] ?? groups['before2'] ?? after;
  const [dimension, factor] = dimensionOf(unit);
  const { number, decimals } = parsed;
  const kind = dimension === 'time' ? 'duration' : 'number';
  return { kind, number: sign * number, order: sign * number * factor, unit, decimals };
}

function parseNumber(written: string, decimal: Decimal): { number: number; decimals: number } | undefined {
  // A telephone number, or a code.
  if (/^0\d/.test(written)) return undefined;
  const thousands = decimal === '.' ? ',' : '.';
  const separators = String.raw`[${thousands}'’\u{a0}\u{202f} ]`;
  const escaped = decimal === '.' ? String.raw`\.` : ',';
  const valid = new RegExp(String.raw`^(?:\d{1,3}(?:${separators}\d{3})+|\d+)(?:${escaped}\d+)?$`, 'u');
  if (!valid.test(written)) return undefined;
  const plain = written.replaceAll(new RegExp(separators, 'gu'), '').replace(decimal, '.');
  return { number: Number(plain), decimals: plain.split('.')[1]?.length ?? 0 };
}

const durationPart = /(\d+(?:[.,]\d+)?)\s*([\p{L}]+)\.?\s*(?:and|und|,)?\s*/uy;

/** Durations of several units, such as `2 h 30 min`; `1:30 h`. */
function durationValue(text: string, decimal: Decimal): CellValue | undefined {
  const clock = /^(\d{1,3}):(\d{2})\s*(?:h|hours?|std\.?|stunden)$/i.exec(text);
  const whole = clock ? Number(clock[1]) * 60 + Number(clock[2]) : sumOfParts(text, decimal);
  if (whole === undefined) return undefined;
  return { kind: 'duration', order: whole, number: whole, unit: 'min', decimals: 0 };
}

function sumOfParts(text: string, decimal: Decimal): number | undefined {
  let sum = 0;
  let count = 0;
  durationPart.lastIndex = 0;
  while (durationPart.lastIndex < text.length) {
    const [, number, unit] = durationPart.exec(text) ?? [];
    const each = unit === undefined ? undefined : minutesOf(unit);
    if (each === undefined) return undefined;
    sum += Number(number!.replace(decimal, '.')) * each;
    count += 1;
  }
  return count > 1 ? sum : undefined;
}

function timeValue(text: string): CellValue | undefined {
  const [, hours, minute, half] =
    /^(\d{1,2})[:.](\d{2})(?::\d{2})?\s*(am|pm|uhr|a\.m\.|p\.m\.)?$/i.exec(text) ?? [];
  if (hours === undefined || Number(minute) > 59 || Number(hours) > 24) return undefined;
  // `12.50` is a number.
  if (!text.includes(':') && !half) return undefined;
  const order = (Number(hours) % (half ? 12 : 25)) * 60 + Number(minute) + (/^p/i.test(half ?? '') ? 720 : 0);
  const isGerman = /uhr/i.test(half ?? '');
  const at = isGerman ? Number(hours) * 60 + Number(minute) : order;
  return { kind: 'time', order: at, end: at + 1 };
}

/** The sign before the fraction in numbers: a comma where some have it for sure, and none has a point for sure. */
export function decimalOf(cells: readonly string[], fallback: Decimal): Decimal {
  const numbers = cells.filter((cell) => /\d[.,]\d/.test(cell) && !dateValue(cell));
  const isComma = numbers.some((cell) => /\d,\d{1,2}(?!\d)|\d\.\d{3},\d|\d,\d{4,}|(?<!\d)0,\d/.test(cell));
  const isPoint = numbers.some((cell) =>
    /\d\.\d{1,2}(?![\d.])|\d,\d{3}\.\d|\d\.\d{4,}|(?<!\d)0\.\d/.test(cell),
  );
  if (isComma !== isPoint) return isComma ? ',' : '.';
  return fallback;
}
