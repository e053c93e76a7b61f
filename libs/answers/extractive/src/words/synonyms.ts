import { splitWords } from '#engine/encoders';
import { stemsOf } from '../stems.js';
import { englishSynonyms } from './english-synonyms.js';

interface Phrase {
  readonly pattern: RegExp;
  /** The single words of its groups. */
  readonly words: readonly string[];
}

const groups = englishSynonyms
  .split(/[|\n]/)
  .map((line) => line.split(',').map((entry) => entry.trim()))
  .filter((group) => group.length > 1);

/** For each stem, the stems of the words that say the same. */
const synonyms = new Map<string, Set<string>>();
const phrases: Phrase[] = [];
for (const group of groups) {
  const words = group.filter((entry) => !entry.includes(' '));
  const stems = words
    .map((word) => stemsOf(word).join(' '))
    .filter((stem) => stem !== '' && !stem.includes(' '));
  for (const stem of stems)
    for (const other of stems)
      if (other !== stem) synonyms.set(stem, (synonyms.get(stem) ?? new Set()).add(other));
  for (const phrase of group.filter((entry) => entry.includes(' ')))
    phrases.push({
      pattern: new RegExp(String.raw`(?<![\p{L}\p{N}])${phrase}(?![\p{L}\p{N}])`, 'giu'),
      words,
    });
}

/** The stems of the words that say the same as a word. */
export function synonymsOf(stem: string): ReadonlySet<string> {
  return synonyms.get(stem) ?? none;
}
const none: ReadonlySet<string> = new Set();

/**
 * A question whose phrases of several words are single words that a text has: `die` for `pass away`. `isKnown`: whether
 * the text has a stem.
 */
export function withoutPhrases(question: string, isKnown: (stem: string) => boolean): string {
  let result = question;
  for (const { pattern, words } of phrases) {
    const known = words.find((word) => stemsOf(word).every((stem) => isKnown(stem)));
    if (known !== undefined && !words.some((word) => result.toLowerCase().includes(word)))
      result = result.replaceAll(pattern, known);
  }
  return result;
}

/** Returns the English words for a word of the question; none where the text is in the language of the question. */
export type Translate = (word: string) => readonly string[];

/**
 * Returns a function that writes a text in the words of a question: `rival` for `competitor`, if the question has `rival`
 * and `own`, the stems of the passage, do not have it. `translate`: for a passage in another language.
 */
export function inWordsOf(
  question: string,
  own: ReadonlySet<string>,
  translate: Translate = () => [],
): (text: string) => string {
  const asked = splitWords(question).flatMap((word) => {
    const [stem] = stemsOf(word);
    return stem === undefined || own.has(stem) ? [] : [{ word, stem }];
  });
  const words = new Map<string, string>();
  const add = (stem: string, word: string) => {
    if (!words.has(stem)) words.set(stem, word);
  };
  for (const { word } of asked)
    for (const english of translate(word)) for (const stem of stemsOf(english)) add(stem, word);
  const meant = [...words];
  for (const { word, stem } of asked) for (const other of synonymsOf(stem)) add(other, word);
  for (const [stem, word] of meant) for (const other of synonymsOf(stem)) add(other, word);
  if (words.size === 0) return (text) => text;
  return (text) =>
    text.replaceAll(/[\p{L}\p{N}]+/gu, (word) => {
      const [stem] = stemsOf(word);
      return (stem === undefined ? undefined : words.get(stem)) ?? word;
    });
}
