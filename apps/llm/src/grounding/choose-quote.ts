import { sentenceQuotes, quoteText, type Quote, type QuoteSource } from './quote-sources.js';
import { WordOverlap } from './word-overlap.js';

/** An answer that has gone astray tells less than the question; measured with bench/grounding. */
const questionWeight = 10;

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
   * The quote with the most words of the question and the answer; between equals the one from the passage that the
   * answer names, then the first. Where nothing has a word of either, the sentence that says there is no answer.
   */
  closest(quotes: readonly Quote[], answer: string, passageNumber: number | undefined): Quote {
    const ranked = quotes.map((quote) => {
      const named = passageNumber !== undefined && quote.source.passage?.number === passageNumber;
      return { quote, keys: [this.#likeness(quote, answer), named ? 1 : 0] };
    });
    const best = ranked.reduce((left, right) => (compareKeys(right.keys, left.keys) > 0 ? right : left));
    const unrelated = best.keys[0] === 0;
    return (unrelated && quotes.find(({ source }) => !source.passage)) || best.quote;
  }

  #likeness(quote: Quote, answer: string): number {
    const text = quoteText(quote);
    const likeAnswer = this.#overlap.compare(text, answer);
    // That there is no answer says nothing of the question.
    const likeQuestion = quote.source.passage ? this.#overlap.compare(text, this.question) : 0;
    return likeAnswer + questionWeight * likeQuestion;
  }
}

function compareKeys(left: readonly number[], right: readonly number[]): number {
  const index = left.findIndex((key, position) => key !== right[position]);
  return index === -1 ? 0 : left[index]! - right[index]!;
}
