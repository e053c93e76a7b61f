import { sentencesWithin } from './sentences.js';

/** Blank lines, and lines that begin a list item, a heading or a table row, end a sentence without a full stop. */
export const structuralBreak = /\n\s*\n|\n(?=\s*(?:[-*•+|#>]|\d+[.)])\s*\S)/;

/** The sentences of a text with normalized whitespace. Joined by single spaces they are the normalized text. */
export function sentencesOf(text: string): string[] {
  return [...sentencesIn(text)];
}

/** Yields the sentences of {@link sentencesOf} one by one, for long texts. */
export function* sentencesIn(text: string): Generator<string, void, void> {
  for (const block of text.split(structuralBreak)) yield* blockSentences(normalizeWhitespace(block));
}

/** Maximum characters of sentences without a space between them that stay together. */
const maxTogether = 4_096;

/**
 * Splits at spaces after sentences. Sentences without a space between them, as in Chinese, stay together, up to some
 * thousand characters.
 */
function* blockSentences(block: string): Generator<string, void, void> {
  let open: string[] = [];
  let length = 0;
  for (const sentence of sentencesWithin(block)) {
    // Looking at the end of a text that grows piece by piece would copy it each time.
    open.push(sentence);
    length += sentence.length;
    if (!sentence.endsWith(' ') && length < maxTogether) continue;
    yield open.join('').trimEnd();
    [open, length] = [[], 0];
  }
  if (open.length > 0) yield open.join('');
}

/** Replaces runs of whitespace by one space and trims the ends. */
export function normalizeWhitespace(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

/** The words and numbers of a text in lower case, without punctuation. */
export function lowerCaseWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
