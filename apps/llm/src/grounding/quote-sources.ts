import type { Passage, Span } from './passage.js';

/** What an answer may consist of: text of a passage, or the sentence that says there is no answer. */
export interface QuoteSource {
  /** Absent for the sentence that says there is no answer. */
  readonly passage?: Passage;
  readonly text: string;
  readonly sentences: readonly Span[];
}

/** Part of a source; whole sentences of it once it is an answer. */
export interface Quote extends Span {
  readonly source: QuoteSource;
}

export function quoteText({ source, start, end }: Quote): string {
  return source.text.slice(start, end);
}

/** The passages, and the sentence that says there is no answer as the last source. */
export function quoteSources(passages: readonly Passage[], noAnswer: string): QuoteSource[] {
  return [
    ...passages.map((passage) => ({ passage, text: passage.text, sentences: passage.sentences })),
    { text: noAnswer, sentences: [{ start: 0, end: noAnswer.length }] },
  ];
}

/** Every sentence of every source. */
export function sentenceQuotes(sources: readonly QuoteSource[]): Quote[] {
  return sources.flatMap((source) => source.sentences.map(({ start, end }) => ({ source, start, end })));
}

/** The sentence that holds the character before `position`. */
export function sentenceBefore({ sentences, text }: QuoteSource, position: number): Span {
  return sentences.findLast(({ start }) => start < position) ?? { start: 0, end: text.length };
}
