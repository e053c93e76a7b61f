import { splitSentences } from '#text';

/** Blank lines, and lines that begin a list item, a heading or a table row, end a sentence without a full stop. */
export const structuralBreak = /\n\s*\n|\n(?=\s*(?:[-*•+|#>]|\d+[.)])\s*\S)/;

/** The sentences of a text with normalized whitespace. Joined by single spaces they are the normalized text. */
export function sentencesOf(text: string): string[] {
  return text.split(structuralBreak).flatMap((block) => blockSentences(normalizeWhitespace(block)));
}

/** Splits at spaces after sentences. Sentences without a space between them, as in Chinese, stay together. */
function blockSentences(block: string): string[] {
  const sentences: string[] = [];
  let open = '';
  for (const sentence of splitSentences(block)) {
    open += sentence;
    if (!open.endsWith(' ')) continue;
    sentences.push(open.trimEnd());
    open = '';
  }
  return open === '' ? sentences : [...sentences, open];
}

/** Replaces runs of whitespace by one space and trims the ends. */
export function normalizeWhitespace(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

/** The words and numbers of a text in lower case, without punctuation. */
export function contentWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
