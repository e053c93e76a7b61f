/** What the reader knows of a word: the pieces that it reads, what it compares, and how it is written. */
export interface ReaderWord {
  readonly ids: readonly number[];
  /** Equal in words that match; absent for words that tell nothing (articles, auxiliaries, punctuation). */
  readonly stem?: string;
  readonly writing: 'plain' | 'capitalised' | 'number';
}

const stopWords = new Set(
  (
    'a an the of in on at to for by with and or is was are were be been do does did what which who whom whose when where ' +
    'why how many much that this it its as from have has had not s name type kind'
  ).split(' '),
);
const numberWords = new Set(
  (
    'january february march april june july august september october november december one two three four five six seven ' +
    'eight nine ten eleven twelve hundred thousand million billion dozen half third twice'
  ).split(' '),
);
const wordPattern = /[\p{L}\p{N}]+|[^\p{L}\p{N}\s]/gu;

/** Words and marks of a text, in order. */
export function splitWords(text: string): string[] {
  return text.match(wordPattern) ?? [];
}

/** As the model's tokenizer normalises a word: lower case, without accents. */
function fold(word: string): string {
  return word
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase();
}

/**
 * What is left of a word without its ending, at most seven letters; undefined where the word tells nothing. The reader was
 * trained with it, so it is part of the model.
 */
export function stemOf(word: string): string | undefined {
  const folded = fold(word);
  if (!/^[\p{L}\p{N}]/u.test(folded) || stopWords.has(folded)) return undefined;
  const cut = folded.length > 4 ? folded.replace(/(?:ing|ed|es|s|ly|ions|ion|ers|er|ment|al)$/, '') : folded;
  return cut.replace(/(.)\1$/u, '$1').slice(0, 7);
}

/** How a word is written, which tells names and numbers from other words. */
export function writingOf(word: string): ReaderWord['writing'] {
  if (/\p{Nd}/u.test(word) || numberWords.has(fold(word))) return 'number';
  return /^\p{Lu}/u.test(word) ? 'capitalised' : 'plain';
}
