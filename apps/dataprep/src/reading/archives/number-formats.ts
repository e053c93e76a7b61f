import type { XmlArchive } from './archive.js';

/** How a workbook shows a number: `129.5` as `129.50 €`. */
interface NumberFormat {
  readonly before: string;
  readonly after: string;
  readonly decimals: number;
  readonly hasThousands: boolean;
  readonly isPercent: boolean;
}

/** The texts of the numbers of one sheet as the workbook shows them, by row and column from 0. */
export type ShownNumbers = (row: number, column: number, number: number) => string | undefined;

/** Formats that every workbook has without naming their codes (ECMA-376, part 1, 18.8.30). */
const builtIn: Readonly<Record<string, string>> = {
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  37: '#,##0',
  38: '#,##0',
  39: '#,##0.00',
  40: '#,##0.00',
};

/** The first section of a code, for positive numbers: what stands before and after the digits, and the digits. */
const code = /^(?<before>[^#0?.,]*)(?<digits>[#0?,]+)(?:\.(?<decimals>[#0?]+))?(?<after>[^#0?.,]*)$/;
/** Parts of dates and times, fractions and powers, which are not read. */
const other = /[ymdhsEe/@]|general/i;

/** The first letter of Unicode for private use. */
const firstLetter = 0xe000;

/** Reads a format code; undefined for dates, texts, fractions and codes that only round. */
function formatOf(text: string): NumberFormat | undefined {
  const [section = ''] = text.split(';');
  const literal: string[] = [];
  // A letter replaces each literal, because a digit in a literal is not a digit of the number.
  const keep = (shown: string) => String.fromCodePoint(firstLetter + literal.push(shown) - 1);
  const plain = section
    .replaceAll(/\[\$([^\]-]*)[^\]]*\]/g, (_found, currency: string) => keep(currency))
    .replaceAll(/"([^"]*)"|\\(.)/g, (_found, quoted?: string, escaped?: string) =>
      keep(quoted ?? escaped ?? ''),
    )
    .replaceAll(/\[[^\]]*\]|[_*]./g, '');
  const groups = code.exec(plain.trim())?.groups;
  if (!groups || other.test(plain)) return undefined;
  const restore = (part = '') =>
    part.replaceAll(/[\u{e000}-\u{e0ff}]/gu, (letter) => literal[letter.codePointAt(0)! - firstLetter] ?? '');
  const [before, after] = [restore(groups['before']), restore(groups['after'])];
  const decimals = (groups['decimals'] ?? '').replaceAll(/[^0]/g, '').length;
  const isPercent = `${before}${after}`.includes('%');
  const hasThousands = groups['digits']!.includes(',');
  const isPlain = before === '' && after === '' && !hasThousands && decimals === 0;
  return isPlain ? undefined : { before, after, decimals, hasThousands, isPercent };
}

/** A number in a format. Numbers with more decimals than the format shows are rounded as the workbook shows them. */
function show(number: number, { before, after, decimals, hasThousands, isPercent }: NumberFormat): string {
  const value = Math.abs(isPercent ? number * 100 : number);
  const [whole = '', fraction] = value.toFixed(decimals).split('.');
  const grouped = hasThousands ? whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',') : whole;
  const sign = number < 0 && /[1-9]/.test(`${whole}${fraction ?? ''}`) ? '-' : '';
  return `${sign}${before}${grouped}${fraction === undefined ? '' : `.${fraction}`}${after}`;
}

/** The formats of the styles of a workbook that show more than the number. */
function formatsOf(archive: XmlArchive, path: string): Map<string, NumberFormat> {
  const $ = archive.xml(path);
  const codes = new Map(Object.entries(builtIn));
  for (const element of $('numFmts > numFmt').toArray())
    codes.set($(element).attr('numFmtId') ?? '', $(element).attr('formatCode') ?? '');
  const formats = new Map<string, NumberFormat>();
  for (const [style, element] of $('cellXfs > xf').toArray().entries()) {
    const format = formatOf(codes.get($(element).attr('numFmtId') ?? '') ?? '');
    if (format) formats.set(String(style), format);
  }
  return formats;
}

const workbook = 'xl/workbook.xml';
const cellTag = /<(?:\w+:)?c\s([^>]*)>/g;

/** How the numbers of each sheet are shown, by the name of the sheet. Empty where no cell has such a format. */
export function shownNumbersOf(archive: XmlArchive): Map<string, ShownNumbers> {
  if (!archive.has(workbook) || !archive.hasRelations(workbook)) return new Map();
  const relations = archive.relations(workbook);
  const styles = relations.find(({ type }) => type.endsWith('/styles'))?.path;
  const formats =
    styles !== undefined && archive.has(styles)
      ? formatsOf(archive, styles)
      : new Map<string, NumberFormat>();
  if (formats.size === 0) return new Map();
  const $ = archive.xml(workbook);
  const pathOf = new Map(relations.map(({ id, path }) => [id, path]));
  const sheets = $('sheets > sheet').toArray();
  return new Map(
    sheets.flatMap((sheet): [string, ShownNumbers][] => {
      const path = pathOf.get($(sheet).attr('r:id') ?? '');
      return path !== undefined && archive.has(path)
        ? [[$(sheet).attr('name') ?? '', shownIn(archive.text(path), formats)]]
        : [];
    }),
  );
}

function shownIn(sheet: string, formats: ReadonlyMap<string, NumberFormat>): ShownNumbers {
  const styles = new Map<string, NumberFormat>();
  for (const [, attributes = ''] of sheet.matchAll(cellTag)) {
    const format = formats.get(/\bs="(\d+)"/.exec(attributes)?.[1] ?? '');
    const place = /\br="([A-Z]+\d+)"/.exec(attributes)?.[1];
    if (format && place !== undefined) styles.set(place, format);
  }
  return (row, column, number) => {
    const format = styles.get(`${columnName(column)}${row + 1}`);
    return format && show(number, format);
  };
}

/** The letters of a column from 0: A, B, … Z, AA. */
function columnName(column: number): string {
  const letter = String.fromCodePoint(65 + (column % 26));
  return column < 26 ? letter : columnName(Math.floor(column / 26) - 1) + letter;
}
