import type { PageRow } from './page-rows.js';
import type { PageWord } from './upright.js';

const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;
/** A wider gap, as a share of the font size, separates two words that no space separates. */
const gapOfWords = 0.16;
/** An index is nearer to its word than this share of the font size. */
const maxIndexGap = 0.7;
const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** Text of words in a line: joins letters that are spaced out, raises indices, and orders right-to-left scripts. */
export function textOfLine(words: readonly PageWord[], { y, size }: Pick<PageRow, 'y' | 'size'>): string {
  const spaced = joinSpacedLetters(words);
  const parts: string[] = [];
  let end = -Infinity;
  for (const word of spaced) {
    const isIndex = word.size < 0.9 * size && word.y - y > 0.15 * size;
    const text =
      isIndex && /^\d+$/.test(word.text)
        ? word.text.replaceAll(/\d/g, (digit) => superscripts[Number(digit)]!)
        : word.text;
    const isApart = (!isIndex && word.isSpaced) || word.x - end > gapOfWords * Math.max(word.size, 1);
    if (parts.length > 0 && (!isApart || (isIndex && word.x - end < maxIndexGap * size)))
      parts[parts.length - 1] += text;
    else parts.push(text);
    end = word.x + word.width;
  }
  return inReadingOrder(parts).join(' ');
}

const isTurned = (part: string) => rightToLeft.test(part);
const letters = (list: string[]) => list.join('').length;

/** Turns the visual order of Arabic and Hebrew into the order of reading. */
function inReadingOrder(parts: string[]): string[] {
  if (!parts.some(isTurned)) return parts;
  const turned = parts.map((part) => (isTurned(part) ? turnLetters(part) : part));
  const isMainly = letters(parts.filter(isTurned)) * 2 >= letters(parts);
  return isMainly ? turnRuns(turned.toReversed(), (part) => !isTurned(part)) : turnRuns(turned, isTurned);
}

/** Turns the letters of a word; numbers and letters of other scripts keep their order. */
function turnLetters(part: string): string {
  const runs = part.match(/[\p{N}\p{Script=Latin}][\p{N}\p{Script=Latin}.,:/-]*|./gsu) ?? [];
  return runs.toReversed().join('');
}

/** Turns each run of two or more parts of one kind. */
function turnRuns(parts: readonly string[], isKind: (part: string) => boolean): string[] {
  const result: string[] = [];
  let run: string[] = [];
  for (const part of parts) {
    if (isKind(part)) run.unshift(part);
    else {
      result.push(...run, part);
      run = [];
    }
  }
  return [...result, ...run];
}

/** Fewer single letters in a row are initials or variables. */
const minSpacedLetters = 4;

/** Joins `N O T I C E` to one word: single letters in a row with gaps of about the same width. */
function joinSpacedLetters(words: readonly PageWord[]): PageWord[] {
  const joined: PageWord[] = [];
  for (let at = 0; at < words.length;) {
    const run = spacedRun(words, at);
    const [first] = run;
    if (first && run.length >= minSpacedLetters) {
      const last = run.at(-1) ?? first;
      const text = run.map((word) => word.text).join('');
      joined.push({ ...first, text, width: last.x + last.width - first.x });
      at += run.length;
    } else {
      joined.push(words[at]!);
      at += 1;
    }
  }
  return joined;
}

const isLetter = (word: PageWord | undefined) =>
  word !== undefined && /^[\p{L}\p{N}]\p{M}*$/u.test(word.text);

function spacedRun(words: readonly PageWord[], start: number): PageWord[] {
  const run: PageWord[] = [];
  let widest = 0;
  for (let at = start; isLetter(words[at]); at += 1) {
    const word = words[at]!;
    const before = run.at(-1);
    const gap = before ? word.x - before.x - before.width : 0;
    // A space that only some of the letters have before them begins a word.
    const isSameSpace = run.length < 2 || word.isSpaced === run[1]?.isSpaced;
    if (before && (!isSameSpace || gap > 1.2 * word.size || (run.length > 1 && gap > 1.6 * widest))) break;
    if (before) widest = Math.max(widest, gap);
    run.push(word);
  }
  return run;
}
