import { countWords } from '#text';
import { sentenceBefore, type Quote, type QuoteSource } from './quote-sources.js';

/**
 * So many words of a sentence make it certain that it is being quoted; shorter beginnings agree by chance. Measured with
 * bench/grounding: fewer show text sooner, more leave a free choice where the model goes astray.
 */
const certainWords = 6;
/** A sentence quoted to its end is certain with fewer; below that it is a heading or a list number. */
const leastSentenceWords = 3;

/** A place in a source at which the model's text so far can be read. */
export interface Candidate {
  readonly source: QuoteSource;
  /** Of the sentence in which the quote begins. */
  readonly sentenceStart: number;
  /** Where the model's text begins; beyond `sentenceStart` when it left out the sentence's first words. */
  readonly matchStart: number;
}

/** Every place where a word begins. */
export function allCandidates(sources: readonly QuoteSource[]): Candidate[] {
  return sources.flatMap((source) =>
    [...source.text.matchAll(/\S+/g)].map(({ index: matchStart }) => {
      const { start: sentenceStart } = sentenceBefore(source, matchStart + 1);
      return { source, sentenceStart, matchStart };
    }),
  );
}

/** The candidates at which one more character can be read after `length` characters. */
export function readCharacter(
  candidates: readonly Candidate[],
  length: number,
  character: string,
): Candidate[] {
  return candidates.filter(({ source, matchStart }) => source.text[matchStart + length] === character);
}

/** True when the quote begins where a sentence does. */
export function startsSentence({ sentenceStart, matchStart }: Candidate): boolean {
  return sentenceStart === matchStart;
}

/**
 * What may be shown of a candidate after `length` characters: whole sentences, and the last one once six words of it are
 * complete. A sentence of one or two words, often a heading, becomes certain by the next. Undefined while nothing is.
 */
export function certainQuote(candidate: Candidate, length: number): Quote | undefined {
  const { source, sentenceStart: start, matchStart } = candidate;
  const position = matchStart + length;
  const words = (from: number, to: number) => countWords(source.text.slice(Math.max(matchStart, from), to));
  const last = sentenceBefore(source, position);
  if (position >= last.end && words(last.start, position) >= leastSentenceWords)
    return { source, start, end: last.end };
  // One word more has begun, so that those before it are complete.
  if (position < last.end && words(last.start, position) > certainWords)
    return { source, start, end: start + source.text.slice(start, position).trimEnd().length };
  const { end } = sentenceBefore(source, last.start);
  return last.start > start && words(start, end) >= leastSentenceWords ? { source, start, end } : undefined;
}

/** Up to the end of the sentence in which `end` lies. */
export function untilSentenceEnd({ source, start, end }: Quote): Quote {
  return { source, start, end: sentenceBefore(source, end).end };
}

/** What a candidate reads as before the model's own text begins. */
export function leadOf({ source, sentenceStart, matchStart }: Candidate): string {
  return source.text.slice(sentenceStart, matchStart);
}
