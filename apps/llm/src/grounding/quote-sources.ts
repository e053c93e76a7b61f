import { createPassage, type Passage, type Span } from './passage.js';
import { repeatsOf } from './repeats-question.js';

/** What an answer may consist of: text of a passage, or the sentence that says there is no answer. */
export interface QuoteSource {
  /** Absent for the sentence that says there is no answer. */
  readonly passage?: Passage;
  /** Part of the passage, in whole sentences. */
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

/**
 * The passages without the sentences that repeat the question, which answer nothing: what stands before such a sentence is
 * a source of its own and what stands behind it another. The sentence that says there is no answer is the last source.
 */
export function quoteSources(
  passages: readonly Passage[],
  { question, noAnswer }: { question: string; noAnswer: string },
): QuoteSource[] {
  const repeats = repeatsOf(question);
  return [
    ...passages.flatMap((passage) => sourcesOf(passage, repeats)),
    { text: noAnswer, sentences: [{ start: 0, end: noAnswer.length }] },
  ];
}

function sourcesOf(passage: Passage, repeats: (sentence: string) => boolean): QuoteSource[] {
  const runs: string[][] = [[]];
  for (const { start, end } of passage.sentences) {
    const sentence = passage.text.slice(start, end);
    if (repeats(sentence)) runs.push([]);
    else runs.at(-1)!.push(sentence);
  }
  return runs
    .filter((run) => run.length > 0)
    .map((run) => {
      const { text, sentences } = createPassage(passage.number, passage.documentId, run);
      return { passage, text, sentences };
    });
}

/** Every sentence of every source. */
export function sentenceQuotes(sources: readonly QuoteSource[]): Quote[] {
  return sources.flatMap((source) => source.sentences.map(({ start, end }) => ({ source, start, end })));
}

/** The sentence that holds the character before `position`. */
export function sentenceBefore({ sentences, text }: QuoteSource, position: number): Span {
  return sentences.findLast(({ start }) => start < position) ?? { start: 0, end: text.length };
}
