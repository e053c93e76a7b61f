import { dateFormatOf, type ShowNumber } from './date-format.js';

/** Formats that every workbook has without naming their codes (ECMA-376, part 1, 18.8.30). */
const builtIn: Readonly<Record<string, string>> = {
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  // The language of the reader decides the order of these dates.
  14: 'yyyy-mm-dd',
  15: 'd-mmm-yyyy',
  16: 'd-mmm',
  17: 'mmm-yyyy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'hh:mm',
  21: 'hh:mm:ss',
  22: 'yyyy-mm-dd hh:mm',
  37: '#,##0',
  38: '#,##0',
  39: '#,##0.00',
  40: '#,##0.00',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss',
};

/** The first section of a code, for positive numbers: what precedes and follows the digits, and the digits. */
const numberCode = /^(?<before>[^#0?.,]*)(?<digits>[#0?,]+)(?:\.(?<decimals>[#0?]+))?(?<after>[^#0?.,]*)$/;
/** Fractions, powers and texts, which are not read. */
const other = /[E/@]|general/i;
/** The first letter of Unicode for private use. */
const firstLetter = 0xe000;

/** Codes of the formats of a workbook, by their ids. */
export function formatCodes(own: Iterable<readonly [id: string, code: string]>): ReadonlyMap<string, string> {
  return new Map([...Object.entries(builtIn), ...own]);
}

/** Reads a format code; undefined for formats that show a number as it is. */
export function showNumberOf(code: string, uses1904: boolean): ShowNumber | undefined {
  const [section = ''] = splitSections(code);
  const literals: string[] = [];
  // A letter replaces each literal, because a digit in a literal is not a digit of the number.
  const keep = (shown: string) => String.fromCodePoint(firstLetter + literals.push(shown) - 1);
  const plain = section
    .replaceAll(/\[\$([^\]-]*)[^\]]*\]/g, (_found, currency: string) => keep(currency))
    .replaceAll(/"([^"]*)"|\\(.)/g, (_found, quoted?: string, escaped?: string) =>
      keep(quoted ?? escaped ?? ''),
    )
    .replaceAll(/\[(?![hms]+\])[^\]]*\]|[_*]./gi, '')
    .trim();
  const restore = (part = '') =>
    part.replaceAll(
      /[\u{e000}-\u{e0ff}]/gu,
      (letter) => literals[letter.codePointAt(0)! - firstLetter] ?? '',
    );
  return dateFormatOf(plain, restore, uses1904) ?? plainFormatOf(plain, restore);
}

/** Sections end at a semicolon outside of quotes. */
const splitSections = (code: string) => code.match(/(?:"[^"]*"|\\.|[^;"\\])+/g) ?? [];

function plainFormatOf(plain: string, restore: (part?: string) => string): ShowNumber | undefined {
  const groups = numberCode.exec(plain)?.groups;
  if (!groups || other.test(plain)) return undefined;
  const [before, after] = [restore(groups['before']), restore(groups['after'])];
  const decimals = (groups['decimals'] ?? '').replaceAll(/[^0]/g, '').length;
  const isPercent = `${before}${after}`.includes('%');
  const hasThousands = groups['digits']!.includes(',');
  const minDigits = groups['digits']!.replaceAll(/[^0]/g, '').length;
  const isPlain = before === '' && after === '' && !hasThousands && decimals === 0 && minDigits <= 1;
  if (isPlain) return undefined;
  return (stored) => {
    const number = Number(stored);
    const value = Math.abs(isPercent ? number * 100 : number);
    // Beyond this, neither a fraction nor each digit is exact.
    if (value >= 1e15) return undefined;
    const [digits = '', fraction] = value.toFixed(decimals).split('.');
    const whole = digits.padStart(minDigits, '0');
    const grouped = hasThousands ? whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',') : whole;
    const sign = number < 0 && /[1-9]/.test(`${whole}${fraction ?? ''}`) ? '-' : '';
    return `${sign}${before}${grouped}${fraction === undefined ? '' : `.${fraction}`}${after}`;
  };
}

/** Digits of a number that a workbook shows; further ones are errors of rounding. */
const exactDigits = 15;

/** A number without a format: each digit of an integer, and no errors of rounding in a fraction. */
export function plainNumber(stored: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d*))?(?:E([+-]?\d+))?$/i.exec(stored.trim()) ?? [];
  if (whole === '') return stored.trim();
  const shift = Number(exponent);
  if (Math.abs(shift) > 30) return String(Number(stored));
  if (shift >= 0 && fraction.length <= shift)
    return sign + (whole + fraction.padEnd(shift, '0')).replace(/^0+(?=\d)/, '');
  if (shift === 0 && (whole + fraction).replace(/^0+/, '').length <= exactDigits)
    return sign + whole + (fraction && `.${fraction}`);
  const shown = Number(Number(stored).toPrecision(exactDigits));
  return Number.isInteger(shown) ? String(shown) : shown.toString();
}
