/** A glyph from pdf.js. */
export interface PdfGlyph {
  originalCharCode: number;
  unicode: string;
  /** In thousandths of the font size. */
  width: number;
  /** In vertical writing: the advance, and the place of the glyph's origin. */
  vmetric?: [advance: number, x: number, y: number] | null;
  isSpace: boolean;
}

/** A font from pdf.js. */
export interface PdfFont {
  name?: string;
  bold?: boolean;
  vertical?: boolean;
  fontMatrix?: number[];
  /** Names of glyphs by their codes, where the font differs from its encoding. */
  differences?: (string | undefined)[];
  composite?: boolean;
  /** True for a font that the file does not contain. */
  missingFile?: boolean;
  /** The characters of codes; with `firstChar` if the file says nothing about them. */
  toUnicode?: Readonly<Record<string, unknown>>;
}

/** Characters that a single glyph paints as several, and compatibility forms of others. */
const compatible = /[\u00a0\u2000-\u200a\u202f\u2f00-\u2fd5\ufb00-\ufb4f\ufb50-\ufdff\ufe70-\ufefc]/u;
/** Control characters, private use and the replacement character: the file does not say which text they are. */
const unreadable = /[^\P{Cc}\s]|[\p{Co}\ufffd]/u;

/**
 * Text of a glyph: its character, or the letters that its name joins (`t_t`). Undefined if the file does not say which
 * character it is.
 */
export function textOfGlyph(glyph: PdfGlyph, font: PdfFont | undefined): string | undefined {
  const { unicode, originalCharCode } = glyph;
  if (font && (numbersGlyphs(font) || isNul(font, originalCharCode))) return undefined;
  const isGuess = unicode === String.fromCharCode(originalCharCode) || unreadable.test(unicode);
  const name = isGuess ? font?.differences?.[originalCharCode] : undefined;
  const text = (name && lettersOfName(name)) || unicode;
  if (unreadable.test(text)) return undefined;
  return compatible.test(text) ? text.normalize('NFKC') : text;
}

/** Whether the file says that a code is the character NUL, which pdf.js shows as a space. */
function isNul({ toUnicode }: PdfFont, code: number): boolean {
  const characters = toUnicode?.['_map'] as Record<number, string> | undefined;
  return characters?.[code] === '\u0000';
}

/** Whether the codes of a font are the numbers of its glyphs, and the file does not say which characters these are. */
function numbersGlyphs({ composite, missingFile, toUnicode }: PdfFont): boolean {
  return composite === true && missingFile !== true && toUnicode !== undefined && 'firstChar' in toUnicode;
}

/** The letters of a name such as `t_t`, `f_f_i.alt` or `uni00660069`; undefined for any other name. */
function lettersOfName(name: string): string | undefined {
  const [base = ''] = name.split('.');
  const parts = base.split('_');
  if (parts.length < 2 && !/^uni(?:[0-9A-F]{4})+$/.test(base)) return undefined;
  const letters = parts.map(letterOf);
  return letters.includes(undefined) ? undefined : letters.join('');
}

function letterOf(name: string): string | undefined {
  if (/^[A-Za-z]$/.test(name)) return name;
  const [, codes] = /^uni((?:[0-9A-F]{4})+)$/.exec(name) ?? [];
  return codes?.replaceAll(/.{4}/g, (code) => String.fromCharCode(Number.parseInt(code, 16)));
}
