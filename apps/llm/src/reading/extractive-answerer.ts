import type { ChatMessage, Citation, GenerationChunk, RetrievedDocument } from '#contracts';
import type { Reader } from '#encoders';
import type { Generator } from '#generation';
import { questionWithNames } from '#text';
import type { GenerateRequest } from '../tools/tool-format.js';
import { quoteOf, quoteOfSeveral, type Quote } from './compose-answer.js';
import type { Candidate } from './evidence.js';
import type { Fusion } from './fusion.js';
import { severalOf } from './list-question.js';
import { rankSentences, type RankedSentence, type Ranking } from './rank-sentences.js';
import { readPassages, type ReadPassage } from './sentence.js';
import { limitAnswer, writeAnswer, type Answer } from './written-answer.js';

/** Questions of the conversation, counted from the last, whose repetition is no answer. */
const questionsKept = 4;
/** Documents that a refusal points to. */
const nearestDocuments = 3;
/** Quotes of an answer that is not sure: each of another section where the documents have headings. */
const mostUnsure = 2;
/** How much likelier a second quote counts, in logits, if another passage holds it: the first one's may be the wrong one. */
const elsewhere = 0.5;
const unsureOpening = 'I am not sure, but the documents say:';

export interface AnswererOptions {
  readonly reader: Reader;
  readonly fusion: Fusion;
  /** What is said where nothing answers. */
  readonly noAnswer: string;
  /** Passages that are read at most, best first as they came. */
  readonly maxPassages: number;
  /** Texts of the tokens that a text consists of. */
  readonly tokenise: NonNullable<Generator['tokenise']>;
  /** What a greeting or a question about the assistant is answered with; undefined for any other. */
  readonly smallTalk?: (message: string) => Promise<string | undefined>;
}

type Limits = Pick<
  GenerateRequest,
  'n' | 'max_tokens' | 'stop' | 'include_stop_str_in_output' | 'logprobs' | 'top_logprobs'
>;

/**
 * Answers with sentences of the documents, each as it stands there with its `[n]`: the likeliest to answer, a second one
 * where that is not sure, none where nothing does.
 */
export class ExtractiveAnswerer {
  constructor(private readonly options: AnswererOptions) {}

  get info(): Reader['info'] {
    return this.options.reader.info;
  }

  /** The reader answers, as a question of health. */
  async check(signal?: AbortSignal): Promise<void> {
    const sentence = { text: 'health', before: '', after: '', passage: 'health' };
    await this.options.reader.read('health', [sentence], signal);
  }

  /** One chunk for each of the n answers, all alike; the last one carries the usage. Errors: those of the reader. */
  async *answer(
    messages: readonly ChatMessage[],
    documents: readonly RetrievedDocument[],
    limits: Limits,
    signal: AbortSignal,
  ): AsyncGenerator<GenerationChunk, void, void> {
    const { answer, promptTokens } = await this.#write(messages, documents, signal);
    const tokens = this.options.tokenise(answer.text);
    const { completionTokens, ...written } = limitAnswer(answer, tokens, limits);
    const { citations, ...chunk } = {
      ...written,
      ...(written.citations.length === 0 && { citations: undefined }),
    };
    const choices = limits.n ?? 1;
    for (let choice = 0; choice < choices; choice += 1) {
      const usage = { promptTokens, completionTokens: completionTokens * choices, cachedTokens: 0 };
      const isLast = choice === choices - 1;
      yield { choice, ...chunk, ...(citations && { citations }), ...(isLast && { usage }) };
    }
  }

  close(): Promise<void> {
    return this.options.reader.close();
  }

  async #write(
    messages: readonly ChatMessage[],
    documents: readonly RetrievedDocument[],
    signal: AbortSignal,
  ): Promise<{ answer: Answer; promptTokens: number }> {
    const { reader, fusion, maxPassages, smallTalk } = this.options;
    const asked = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    const said = await smallTalk?.(asked.at(-1) ?? '');
    if (said !== undefined) return { answer: { text: said, citations: [], confidence: 1 }, promptTokens: 0 };
    const question = questionWithNames(messages);
    const passages = readPassages(documents.slice(0, maxPassages));
    const ranking = await rankSentences(
      question,
      passages,
      { reader, fusion, asked: asked.slice(-questionsKept) },
      signal,
    );
    const { promptTokens, confidence } = ranking;
    if (ranking.ranked.length === 0 || confidence < fusion.thresholds.answer)
      return { answer: this.#refusal(documents, 1 - confidence), promptTokens };
    const isSure = confidence >= fusion.thresholds.sure;
    const quotes = quotesOf(question, ranking, passages, isSure);
    return { answer: writeAnswer(isSure ? '' : unsureOpening, quotes, confidence), promptTokens };
  }

  /** Points to the documents that come nearest, without a quote of them. */
  #refusal(documents: readonly RetrievedDocument[], confidence: number): Answer {
    const { noAnswer } = this.options;
    const seen = new Set<unknown>();
    const citations: Citation[] = [];
    for (const [index, { id, metadata }] of documents.entries()) {
      const document = metadata['document_id'] ?? id;
      if (seen.has(document) || citations.length === nearestDocuments) continue;
      seen.add(document);
      const end = noAnswer.length;
      citations.push({ startIndex: end, endIndex: end, passage: index + 1, documentId: id, quote: '' });
    }
    return { text: noAnswer, citations, confidence };
  }
}

/** The quotes of an answer; a second one only where it adds something. */
function quotesOf(
  question: string,
  { ranked }: Ranking,
  passages: readonly ReadPassage[],
  isSure: boolean,
): Quote[] {
  const passageOf = (number: number) => passages[number - 1]!;
  const several = severalOf(question, ranked);
  if (several) {
    const sentences = several.map(({ candidate }) => candidate.sentence);
    return [quoteOfSeveral(sentences, passageOf(sentences[0]!.passage))];
  }
  const quotes: Quote[] = [];
  const explained = new Set<string>();
  const most = isSure ? 1 : mostUnsure;
  for (const { candidate } of withSecond(ranked)) {
    if (quotes.length === most) break;
    const section = sectionOf(candidate);
    if (explained.has(section)) continue;
    if (section !== '') explained.add(section);
    const quote = quoteOf(candidate, passageOf(candidate.sentence.passage), question);
    const isNew = quotes.every(
      ({ text }) => !text.includes(candidate.sentence.text) && !quote.text.includes(text),
    );
    if (isNew) quotes.push(quote);
  }
  return quotes;
}

/** The first of the ranking, then the others by what they add to it. */
function withSecond([first, ...others]: Ranking['ranked']): Ranking['ranked'] {
  if (!first) return [];
  const { passage } = first.candidate.sentence;
  const worthOf = ({ candidate, logit }: RankedSentence) =>
    logit + (candidate.sentence.passage === passage ? 0 : elsewhere);
  return [first, ...others.toSorted((left, right) => worthOf(right) - worthOf(left))];
}

/** The headings above a sentence, or empty where there is none but the document's title. */
function sectionOf({ heading }: Candidate): string {
  return heading.includes(' > ') ? heading : '';
}
