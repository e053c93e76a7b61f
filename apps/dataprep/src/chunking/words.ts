/**
 * A word is what stands between spaces; in scripts written without spaces each character counts as one. A run of
 * more than 100 characters without a space (a long URL, encoded data) counts as several, so that it can be cut.
 */
const wordPattern =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]{1,100}/gu;

/** Place of a word in its text: UTF-16 offsets, the end excluded. */
export interface WordSpan {
  start: number;
  end: number;
}

/** The unit of chunk_size and chunk_overlap. */
export function countWords(text: string): number {
  return text.match(wordPattern)?.length ?? 0;
}

/** Where the words of a text lie. */
export function wordSpans(text: string): WordSpan[] {
  return [...text.matchAll(wordPattern)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
}
