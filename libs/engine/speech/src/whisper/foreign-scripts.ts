import type { TokenVocabulary } from '#engine/models';

/** Languages that are written in more than one script, beside the one that is the most usual. */
const inSeveralScripts: ReadonlySet<string> = new Set([
  'az',
  'bs',
  'ha',
  'jw',
  'kk',
  'ku',
  'mn',
  'ms',
  'pa',
  'sd',
  'sr',
  'su',
  'tg',
  'tk',
  'tt',
  'ug',
  'uz',
]);

/** Scripts in Unicode's names that one of ISO 15924's short names stands for. */
const compoundScripts: Readonly<Record<string, readonly string[]>> = {
  Hans: ['Han'],
  Hant: ['Han'],
  Jpan: ['Han', 'Hiragana', 'Katakana'],
  Kore: ['Hangul', 'Han'],
};

/** Matches letters that texts of a language do not have; undefined where the scripts of the language are not known. */
function foreignLetters(language: string): RegExp | undefined {
  if (inSeveralScripts.has(language)) return undefined;
  const { script } = new Intl.Locale(language).maximize();
  if (!script) return undefined;
  // Names, abbreviations and loanwords are written in Latin letters in any language.
  const scripts = ['Latin', ...(compoundScripts[script] ?? [script]), 'Common', 'Inherited'];
  const own = scripts.map((name) => `\\p{Script=${name}}`).join('');
  return new RegExp(`(?=\\p{L})[^${own}]`, 'u');
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The text of a token; undefined for a part of a character. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Characters that begin with the first bytes at the end of a token: the first and the last one. */
function beginnings(bytes: Uint8Array): string[] {
  const start = bytes.findLastIndex((byte) => byte >= 0xc2);
  const size = start === -1 ? 0 : bytes[start]! >= 0xf0 ? 4 : bytes[start]! >= 0xe0 ? 3 : 2;
  const head = bytes.subarray(start);
  if (size === 0 || head.length >= size) return [];
  return [0x80, 0xbf].flatMap((filler) => {
    const text = textOf(Uint8Array.from({ length: size }, (_unused, index) => head[index] ?? filler));
    return text ?? [];
  });
}

/**
 * The tokens with letters of scripts in which a language is not written, also those that begin such letters. A model
 * that does not understand speech otherwise mixes languages.
 */
export function foreignTokens(vocabulary: TokenVocabulary, language: string, size: number): number[] {
  const foreign = foreignLetters(language);
  if (!foreign) return [];
  return Array.from({ length: size }, (_unused, id) => id).filter((id) => {
    const bytes = vocabulary.bytesOf(id);
    const text = textOf(bytes);
    if (text !== undefined) return foreign.test(text);
    const parts = beginnings(bytes);
    return parts.length > 0 && parts.every((part) => foreign.test(part));
  });
}
