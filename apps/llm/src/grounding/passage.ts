import { sentencesOf } from './sentences.js';

/** Characters `start` to `end` (exclusive) of a passage's text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A passage as the prompt shows it: `[number] text`. */
export interface Passage {
  /** From 1. */
  readonly number: number;
  readonly documentId: string;
  /** One line: whitespace is normalised. */
  readonly text: string;
  /** In order, separated by single spaces. */
  readonly sentences: readonly Span[];
}

/** A passage of whole sentences. */
export function createPassage(number: number, documentId: string, sentences: readonly string[]): Passage {
  let start = 0;
  const spans = sentences.map((sentence) => {
    const span = { start, end: start + sentence.length };
    start = span.end + 1;
    return span;
  });
  return { number, documentId, text: sentences.join(' '), sentences: spans };
}

/** A passage from a document's text as it is. */
export function passageOf(number: number, documentId: string, text: string): Passage {
  return createPassage(number, documentId, sentencesOf(text));
}
