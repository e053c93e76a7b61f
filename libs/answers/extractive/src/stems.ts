import { splitWords, stemOf } from '#engine/encoders';
import { baseForm } from './irregular-forms.js';

/** Stems of the meaningful words of a text, in order. A name like `ForwardAgent` counts as its single words. */
export function stemsOf(text: string): string[] {
  return splitWords(text.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')).flatMap(
    (word) => evidenceStem(word) ?? [],
  );
}

/** A plural of four letters, which the stem of the reader keeps: `eggs`. */
function singular(word: string): string {
  return /^\p{L}{2}[^su\P{L}]s$/u.test(word) && word !== 'does' && word !== 'goes' ? word.slice(0, -1) : word;
}

/** The stem of the reader's training without its last letter, so that `close` and `closed` have the same stem. */
function evidenceStem(word: string): string | undefined {
  const stem = stemOf(singular(baseForm(word)));
  return stem !== undefined && stem.length > 3 ? stem.replace(/e$/, '').replace(/y$/, 'i') : stem;
}
