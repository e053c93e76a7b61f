import { sentenceQuotes, quoteText, type Quote, type QuoteSource } from './quote-sources.js';
import { WordOverlap } from './word-overlap.js';

/** Finds the sentence that a model meant but did not quote exactly. */
export class QuoteChooser {
  readonly sentences: Quote[];
  readonly #overlap: WordOverlap;

  constructor(
    sources: readonly QuoteSource[],
    private readonly question: string,
  ) {
    this.sentences = sentenceQuotes(sources);
    this.#overlap = new WordOverlap(this.sentences.map(quoteText));
  }

  /**
   * The quote with the most words of the answer; between equals the one from the passage that the answer names, then
   * the one with the most words of the question, then the first. Where nothing has a word of the answer or of the
   * question, the sentence that says there is no answer.
   */
  closest(quotes: readonly Quote[], answer: string, passageNumber: number | undefined): Quote {
    const ranked = quotes.map((quote) => ({ quote, keys: this.#keys(quote, answer, passageNumber) }));
    const best = ranked.reduce((left, right) => (compareKeys(right.keys, left.keys) > 0 ? right : left));
    const unrelated = best.keys[0] === 0 && best.keys[2] === 0;
    return (unrelated && quotes.find(({ source }) => !source.passage)) || best.quote;
  }

  #keys(quote: Quote, answer: string, passageNumber: number | undefined): [number, number, number] {
    const text = quoteText(quote);
    const { passage } = quote.source;
    return [
      this.#overlap.compare(text, answer),
      passage !== undefined && passage.number === passageNumber ? 1 : 0,
      passage ? this.#overlap.compare(text, this.question) : 0,
    ];
  }
}

function compareKeys(left: readonly number[], right: readonly number[]): number {
  const index = left.findIndex((key, position) => key !== right[position]);
  return index === -1 ? 0 : left[index]! - right[index]!;
}
