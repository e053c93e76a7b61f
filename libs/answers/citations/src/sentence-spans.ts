import { splitSentences, structuralBreak } from '#platform/foundation';

/** Characters `start` to `end` (exclusive) of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const breaks = new RegExp(structuralBreak, 'g');

/** The sentences of a text as they are in it, without white space around them. */
export function sentenceSpans(text: string): Span[] {
  const spans: Span[] = [];
  const add = (from: number, to: number) => {
    let start = from;
    // A line break within a paragraph does not end a sentence.
    for (const sentence of splitSentences(text.slice(from, to).replaceAll(/[\n\r]/g, ' '))) {
      const blank = sentence.length - sentence.trimStart().length;
      const end = start + sentence.trimEnd().length;
      if (end > start + blank) spans.push({ start: start + blank, end });
      start += sentence.length;
    }
  };
  let from = 0;
  for (const { index, 0: found } of text.matchAll(breaks)) {
    add(from, index);
    from = index + found.length;
  }
  add(from, text.length);
  return spans;
}
