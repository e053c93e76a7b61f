import { splitWords, stemOf } from '#engine/encoders';

/** Stems of the meaningful words of a text, in order. A name like `ForwardAgent` counts as its single words. */
export function stemsOf(text: string): string[] {
  return splitWords(text.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')).flatMap(
    (word) => evidenceStem(word) ?? [],
  );
}

/** The stem of the reader's training without its last letter, so that `close` and `closed` have the same stem. */
function evidenceStem(word: string): string | undefined {
  const stem = stemOf(word);
  return stem !== undefined && stem.length > 3 ? stem.replace(/e$/, '').replace(/y$/, 'i') : stem;
}
