import { splitWords } from '#engine/encoders';
import type { ReadPassage } from '../sentence.js';
import { stemsOf } from '../stems.js';
import { withoutPhrases } from '../words/synonyms.js';

/** Letters from which on a word may have one typing error, and two. */
const minLetters = { one: 5, two: 8 };
/** Letters of two words of the question that are one word in the passages: `web site`. */
const minJoined = 7;
const numberWords = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');

/**
 * A question in the words of some passages: a word that none of them has becomes the word that differs from it by a
 * typing error, and the digits of a number become its word, or the other way round. A word that the passages write as
 * one, and the question as two, is added. Only for a ranking: the words that are shown and searched stay.
 */
export function alignQuestion(question: string, passages: readonly ReadPassage[]): string {
  const words = new Set<string>();
  for (const { heading, document, sentences } of passages)
    for (const text of [heading, document, ...sentences.map((sentence) => sentence.text)])
      for (const word of splitWords(text)) words.add(word.toLowerCase());
  if (words.size === 0) return question;
  const known = new Set([...words].flatMap((word) => stemsOf(word)));
  const isUnknown = (word: string) => stemsOf(word).some((stem) => !known.has(stem));
  const aligned = withoutPhrases(question, (stem) => known.has(stem)).replaceAll(/[\p{L}\p{N}]+/gu, (word) =>
    isUnknown(word) ? (sameNumber(word, words) ?? withoutTypo(word, words) ?? word) : word,
  );
  const parts = splitWords(aligned).filter((word) => /^\p{L}{2,}$/u.test(word));
  const joined = parts
    .slice(1)
    .map((word, index) => `${parts[index]}${word}`)
    .filter((word) => word.length >= minJoined && words.has(word.toLowerCase()));
  return [aligned, ...joined].join(' ');
}

function sameNumber(word: string, words: ReadonlySet<string>): string | undefined {
  const number = numberWords.indexOf(word.toLowerCase());
  const other = number === -1 ? numberWords[Number(word)] : String(number);
  return other !== undefined && words.has(other) ? other : undefined;
}

/** The word of the passages that a word is with a typing error. Its first letter is right. */
function withoutTypo(written: string, words: ReadonlySet<string>): string | undefined {
  const word = written.toLowerCase();
  if (word.length < minLetters.one || !/^\p{L}+$/u.test(word)) return undefined;
  const max = word.length >= minLetters.two ? 2 : 1;
  let best: string | undefined;
  let minDistance = max + 1;
  for (const other of words) {
    if (other[0] !== word[0] || Math.abs(other.length - word.length) > max || other.length < minLetters.one)
      continue;
    const distance = distanceOf(word, other);
    if (distance < minDistance) [best, minDistance] = [other, distance];
  }
  return best;
}

/** Letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
function distanceOf(one: string, other: string): number {
  let [before, last] = [[] as number[], Array.from({ length: other.length + 1 }, (_unused, at) => at)];
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwap =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      next.push(
        Math.min(
          last[column]! + 1,
          next[column - 1]! + 1,
          last[column - 1]! + (isSame ? 0 : 1),
          isSwap ? before[column - 2]! + 1 : Infinity,
        ),
      );
    }
    [before, last] = [last, next];
  }
  return last[other.length]!;
}
