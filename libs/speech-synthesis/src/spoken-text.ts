import { splitSentences } from '#text';

/** Longer pieces are cut at a comma or a space, so that the first audio of a long sentence does not wait for its end. */
const maxPieceCharacters = 240;

const plainCharacters: readonly [RegExp, string][] = [
  [/[\u2018\u2019\u201a\u02bc]/g, "'"],
  [/[\u201c\u201d\u201e\u00ab\u00bb]/g, '"'],
  [/[\u2012-\u2015]/g, ' - '],
  [/\u2026/g, '...'],
  [/\u00d7/g, ' times '],
  [/\u00b0/g, ' degrees '],
  [/\u20ac/g, ' euros '],
  [/\u00a3/g, ' pounds '],
  [/[\u00df]/g, 'ss'],
];

/**
 * The text in the letters that an English voice reads: ASCII, without accents. Letters of other scripts are left out.
 */
export function toEnglishLetters(text: string): string {
  let plain = text;
  for (const [pattern, replacement] of plainCharacters) plain = plain.replaceAll(pattern, replacement);
  return plain
    .normalize('NFKD')
    .replaceAll(/[^\x20-\x7e\n]/g, (character) => (/\s/.test(character) ? ' ' : ''))
    .replaceAll(/[ \t]+/g, ' ');
}

/** Cuts a sentence into pieces of at most {@link maxPieceCharacters}, at commas where there are any, else at spaces. */
function cutLongSentence(sentence: string): string[] {
  const pieces: string[] = [];
  let rest = sentence;
  while (rest.length > maxPieceCharacters) {
    const head = rest.slice(0, maxPieceCharacters);
    const comma = Math.max(head.lastIndexOf(', '), head.lastIndexOf('; '), head.lastIndexOf(': '));
    const end = comma > maxPieceCharacters / 3 ? comma + 1 : head.lastIndexOf(' ');
    const length = end > 0 ? end : maxPieceCharacters;
    pieces.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return [...pieces, rest];
}

/** The pieces of a text that are spoken one after the other; those without a letter or a digit are left out. */
export function splitForSpeech(text: string): string[] {
  return splitSentences(text)
    .flatMap((sentence) => cutLongSentence(sentence.trim()))
    .filter((piece) => /[\p{L}\p{N}]/u.test(piece));
}
