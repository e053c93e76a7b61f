import { contentWords } from './condense-question.js';

/**
 * Whether a heading asks what a question asks, as in a page of frequent questions: both have the same content words, in
 * any form. "What is Zorvex?" and "What does Zorvex do?" ask the same.
 */
export function asksTheSame(heading: string, question: string): boolean {
  if (!heading.trimEnd().endsWith('?')) return false;
  const asked = wordsOf(question);
  const [clause = ''] = heading.split(/, (?:and|or)\b/);
  return [heading, clause].some((text) => isSame(wordsOf(text), asked));
}

function isSame(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  return left.size > 0 && left.size === right.size && [...left].every((word) => right.has(word));
}

/** The content words of a text, without their endings. */
function wordsOf(text: string): Set<string> {
  return new Set(
    contentWords(text).map((word) => {
      const lower = word.toLowerCase();
      return lower.length > 4 ? lower.replace(/(?:ies|ing|ed|es|s|e|y)$/, '') : lower;
    }),
  );
}
