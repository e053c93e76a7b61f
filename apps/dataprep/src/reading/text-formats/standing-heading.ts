import type { DocumentBlock } from '../parsed-document.js';

/** Limits for the words of a heading without a number, and with one. */
const maxWords = { title: 6, numbered: 12 };
/** The level of parts such as `Section 3. Fees`, and of titles without a number. */
const standingLevel = 3;

/** `Section 3. Fees`, `Article IV`, `§ 5 Beitrag`: a part of a law, a contract or a book with its number. */
const part =
  /^(?:(?:section|article|chapter|part|clause|annex|appendix|schedule|abschnitt|artikel|kapitel|teil|anlage|anhang)\s+(?:\d+(?:\.\d+)*|[ivxlc]+|[a-z])(?![\p{L}\p{N}])|§+\s*\d)/iu;
/** `3. Fees`, `2.1 Noise`. */
const numbered = /^((?:\d{1,2}\.)*\d{1,2})[.)]?\s+\p{Lu}[^;!?:]*$/u;
const title = /^\p{Lu}[\p{L}\p{N} ,()&/’'–-]*$/u;
const end = /[.,;:!?–-]$/;
/** Lines that are no prose: items of lists, tables, quotes, programs. */
const noProse = /^\s*(?:[-*•‣◦+|>#<]|\d{1,3}[.)]\s)|\t|\s{4,}|[|{};=]\s*$/;

/**
 * The heading that a line alone between blank lines is, in a text that was wrapped at a margin: a part of a law with its
 * number; a numbered title; or a few words without an end. Below a title stands prose that fills more than half of a line.
 */
export function standingHeading(
  line: string,
  following: readonly string[] | undefined,
  margin: number,
): DocumentBlock | undefined {
  const text = line.trim().replaceAll(/\s+/g, ' ');
  const words = text.split(' ').length;
  const [next = ''] = following ?? [];
  if (next === '' || words > maxWords.numbered || end.test(text) || /[\t|]/.test(line)) return undefined;
  const heading = (level: number): DocumentBlock => ({ kind: 'heading', level, text });
  if (part.test(text)) return heading(standingLevel);
  const isAboveProse = !noProse.test(next) && next.trimEnd().length > margin / 2;
  if (!isAboveProse) return undefined;
  const number = numbered.exec(text)?.[1];
  if (number !== undefined) return heading(standingLevel + number.split('.').length - 1);
  return words <= maxWords.title && title.test(text) ? heading(standingLevel) : undefined;
}
