import type { Citation, TokenLogprob } from '#contracts';
import type { AnswerCheck, CheckedPiece } from './answer-check.js';
import { AnswerWriter } from './answer-writer.js';
import { QuoteChooser } from './choose-quote.js';
import { NormalisedText } from './normalised-text.js';
import type { Passage } from './passage.js';
import {
  allCandidates,
  certainQuote,
  leadOf,
  readCharacter,
  startsSentence,
  untilSentenceEnd,
  type Candidate,
} from './quote-candidates.js';
import { quoteSources, quoteText, type Quote } from './quote-sources.js';

export interface QuoteCheckOptions {
  readonly passages: readonly Passage[];
  readonly question: string;
  /** The sentence that says there is no answer. */
  readonly noAnswer: string;
  /** Strings that the caller does not want in the answer. */
  readonly stops: readonly string[];
}

/**
 * Lets an answer through while it is a quote of a passage (or the sentence that says there is no answer); a sentence that
 * only repeats the question is not quoted. Where the answer leaves the passages, the sentence that was begun is continued;
 * where nothing was shown yet, the sentence closest to the model's answer is. The outcome: whole sentences of a passage
 * and ` [n]` with that passage's number, or the sentence that says there is no answer. Only the caller's own limits
 * (max_tokens, stop) cut it short.
 */
export class QuoteCheck implements AnswerCheck {
  readonly #model = new NormalisedText();
  readonly #writer: AnswerWriter;
  readonly #chooser: QuoteChooser;
  #candidates: Candidate[];
  /** Characters of the model's text that the candidates agree with. */
  #read = 0;
  /** The model's text has left the candidates. */
  #diverged = false;
  #done = false;

  constructor({ passages, question, noAnswer, stops }: QuoteCheckOptions) {
    const sources = quoteSources(passages, { question, noAnswer });
    this.#writer = new AnswerWriter(stops);
    this.#chooser = new QuoteChooser(sources, question);
    this.#candidates = allCandidates(sources);
  }

  push({ text, logprobs, finishReason }: Parameters<AnswerCheck['push']>[0]): CheckedPiece {
    if (this.#done) return { text: '' };
    this.#holdLogprobs(logprobs ?? []);
    this.#model.push(text);
    this.#follow();
    if (finishReason === 'length' && !this.#diverged) return this.#cutOff();
    const ended = finishReason !== undefined || this.#writer.stopped;
    return this.#resolve(ended) ?? this.#writer.take();
  }

  /** Each token by itself, because an event may bring several of which only the first are shown. */
  #holdLogprobs(logprobs: readonly TokenLogprob[]): void {
    let text = '';
    for (const logprob of logprobs) {
      text += logprob.token;
      this.#writer.hold(this.#model.lengthWith(text), logprob);
    }
  }

  /** Reads on in the passages as far as the model's text agrees with one; character by character, so that the outcome
   * does not depend on how the text was cut. */
  #follow(): void {
    const { value } = this.#model;
    while (!this.#diverged && this.#read < value.length) {
      const next = readCharacter(this.#candidates, this.#read, value[this.#read]!);
      if (next.length === 0) this.#diverged = true;
      else {
        this.#candidates = next;
        this.#read += 1;
        this.#show();
      }
    }
  }

  /** Writes what is certain. From then on only the candidates that agree with it count. */
  #show(): void {
    const readable = this.#readable();
    const certain = readable.flatMap((candidate) => certainQuote(candidate, this.#read) ?? []);
    if (certain.length === 0) return;
    this.#candidates = readable;
    this.#write(certain.reduce((longest, quote) => (lengthOf(quote) > lengthOf(longest) ? quote : longest)));
  }

  /** Quotes that begin a sentence come before those within one; these wait until they agree on its beginning. */
  #readable(): Candidate[] {
    if (this.#writer.text !== '') return this.#candidates;
    const starting = this.#candidates.filter(startsSentence);
    if (starting.length > 0) return starting;
    return new Set(this.#candidates.map(leadOf)).size === 1 ? this.#candidates : [];
  }

  /** The whole answer, once there is no choice left or the model has nothing more to say. */
  #resolve(ended: boolean): CheckedPiece | undefined {
    if (!ended && !this.#diverged) return undefined;
    const quotes = this.#quotes();
    const { answer, passageNumber } = this.#readMarker();
    const heard = ended || passageNumber !== undefined || this.#model.value.length >= this.#hearingEnd;
    if (quotes.length > 1 && !heard) return undefined;
    return this.#conclude(this.#chooser.closest(quotes, answer, passageNumber));
  }

  /** What the answer can still become. */
  #quotes(): Quote[] {
    const shown = this.#writer.text.length;
    const rest = this.#model.value.slice(this.#read).trimStart();
    const quoted = this.#read > 0 && (rest === '' || rest.startsWith('['));
    if (shown === 0 && !quoted) return this.#chooser.sentences;
    const quotes = this.#candidates.map(({ source, sentenceStart: start, matchStart }) => {
      const reached = { source, start, end: matchStart + this.#read };
      const deliberate = shown === 0 || (quoted && lengthOf(reached) === lengthOf(untilSentenceEnd(reached)));
      return untilSentenceEnd(deliberate ? reached : { source, start, end: start + shown });
    });
    return withoutDuplicates(quotes);
  }

  /** Twice the longest sentence beyond the quote the model has said enough; small models may go round in circles. */
  get #hearingEnd(): number {
    return this.#read + 2 * Math.max(...this.#chooser.sentences.map(lengthOf));
  }

  /** The model's answer without its `[n]`, and that number where it has come whole. */
  #readMarker(): { answer: string; passageNumber?: number } {
    const text = this.#model.value.slice(0, this.#hearingEnd);
    const marker = /\[(\d+)\]/.exec(text.slice(this.#read));
    if (!marker) return { answer: text };
    return { answer: text.slice(0, this.#read + marker.index), passageNumber: Number(marker[1]) };
  }

  #conclude(quote: Quote): CheckedPiece {
    this.#done = true;
    this.#write(quote);
    const citations = this.#citations(quote);
    const { passage } = quote.source;
    if (passage) this.#writer.writeUpTo(`${quoteText(quote)} [${passage.number}]`);
    return { ...this.#writer.take(), finishReason: 'stop', ...(citations.length > 0 && { citations }) };
  }

  /** max_tokens ended the model within a quote: the answer ends there too. */
  #cutOff(): CheckedPiece {
    this.#done = true;
    const [candidate] = this.#readable().length > 0 ? this.#readable() : this.#candidates;
    if (this.#read === 0 || !candidate) return { ...this.#writer.take(), finishReason: 'length' };
    const { source, sentenceStart: start, matchStart } = candidate;
    const quote = { source, start, end: matchStart + this.#read };
    this.#write(quote);
    const citations = this.#citations(quote);
    return { ...this.#writer.take(), finishReason: 'length', ...(citations.length > 0 && { citations }) };
  }

  /** Makes the answer begin with the quote, and lets go of the logprobs of the model's tokens that are part of it. */
  #write(quote: Quote): void {
    this.#writer.writeUpTo(quoteText(quote));
    const candidate = this.#candidates.find(
      ({ source, sentenceStart }) => source === quote.source && sentenceStart === quote.start,
    );
    const shown = this.#writer.text.slice(candidate ? leadOf(candidate).length : 0);
    this.#writer.release(sharedLength(shown, this.#model.value));
  }

  /** Of what was written of the quote; a stop string may have cut it. */
  #citations({ source: { passage } }: Quote): Citation[] {
    const quote = this.#writer.text;
    if (!passage || quote === '') return [];
    const { number, documentId } = passage;
    return [{ startIndex: 0, endIndex: quote.length, passage: number, documentId, quote }];
  }
}

function withoutDuplicates(quotes: readonly Quote[]): Quote[] {
  return quotes.filter(
    (quote, index) =>
      quotes.findIndex((other) => other.source === quote.source && quoteText(other) === quoteText(quote)) ===
      index,
  );
}

function lengthOf({ start, end }: Quote): number {
  return end - start;
}

/** Number of characters at the start that both have. */
function sharedLength(left: string, right: string): number {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length += 1;
  return length;
}
