import type { ChatMessage, GenerationChunk, RetrievedDocument } from '#contracts';
import { loadReader, type Reader } from '#encoders';
import type { Generator } from '#generation';
import { announceModel, modelOptions, type Profile } from '#service-kit';
import { asksForSummary, questionWithNames, type RagPrompt } from '#text';
import type { LlmEnvironment } from '../llm.environment.js';
import type { LlmGenerator } from '../open-generator.js';
import type { GenerateRequest } from '../tools/tool-format.js';
import { quoteOf, quoteOfSeveral, type Quote } from './compose-answer.js';
import {
  rankSentences,
  readFusion,
  type Fusion,
  type RankedSentence,
  type Ranking,
} from './rank-sentences.js';
import { readPassages, type Candidate, type ReadPassage } from './sentence.js';
import { answerSmallTalk, type Library } from './small-talk.js';
import { limitAnswer, writeAnswer, type Answer, type MarkerOf } from './written-answer.js';

/** Questions that more than one row or item may answer. */
const asksForSeveral =
  /^(?:and )?(?:which|what)(?: [\p{L}-]+){0,2} [\p{L}-]+s(?: (?:of|in|for|on|from|with)(?: [\p{L}-]+){1,3})? (?:are|do|does|can|have|were|is|must|may|should|exist)\b|^what are\b|^(?:list|name|enumerate)\b|\b(?:all|every|each of) the\b/iu;
/** Limit for the quoted rows and items. */
const mostQuoted = 8;
/** Maximum distance in logits of another row or item from the first one. */
const farBehind = 2.5;

/**
 * If the question asks for several things and the first sentence of the ranking is a row or an item: this sentence and
 * the rows or items of the same passage with nearly the same score, in the passage's order. Otherwise undefined.
 */
function severalOf(question: string, ranked: readonly RankedSentence[]): RankedSentence[] | undefined {
  const [first] = ranked;
  const kind = first?.candidate.sentence.kind;
  if (!first || (kind !== 'row' && kind !== 'item') || !asksForSeveral.test(question.trim()))
    return undefined;
  const kin = ranked.filter(
    ({ candidate: { sentence }, logit }) =>
      sentence.kind === kind &&
      sentence.passage === first.candidate.sentence.passage &&
      logit > first.logit - farBehind,
  );
  if (kin.length < 2) return undefined;
  return kin
    .slice(0, mostQuoted)
    .toSorted((left, right) => left.candidate.sentence.index - right.candidate.sentence.index);
}

/** Number of the last questions of the conversation whose repetition does not count as an answer. */
const questionsKept = 4;
const unsureOpening = 'I am not sure, but the documents say:';

interface AnswererOptions {
  readonly reader: Reader;
  readonly fusion: Fusion;
  /** The text where no sentence answers the question. */
  readonly noAnswer: string;
  /** Limit for the passages to read, in the order of the search. */
  readonly maxPassages: number;
  /** Splits a text into the texts of its tokens. */
  readonly tokenize: NonNullable<Generator['tokenize']>;
  /** The answer to a greeting or to a question about the assistant; undefined for any other message. */
  readonly smallTalk?: (message: string) => Promise<string | undefined>;
}

type Limits = Pick<
  GenerateRequest,
  'n' | 'max_tokens' | 'stop' | 'include_stop_str_in_output' | 'logprobs' | 'top_logprobs'
>;

/**
 * Answers with unchanged sentences of the documents, each with its `[n]`: the most likely answer, a second or third
 * sentence where it is unsure, and no sentence where no candidate is likely enough.
 */
export class ExtractiveAnswerer {
  constructor(private readonly options: AnswererOptions) {}

  get info(): Reader['info'] {
    return this.options.reader.info;
  }

  /** Health check: the reader reads one sentence. */
  async check(signal?: AbortSignal): Promise<void> {
    const sentence = { text: 'health', before: '', after: '', passage: 'health' };
    await this.options.reader.read('health', [sentence], signal);
  }

  /** One chunk for each of the n equal answers; the last one has the usage. Errors: the errors of the reader. */
  async *answer(
    messages: readonly ChatMessage[],
    documents: readonly RetrievedDocument[],
    limits: Limits,
    signal: AbortSignal,
  ): AsyncGenerator<GenerationChunk, void, void> {
    const { maxPassages, noAnswer } = this.options;
    yield* this.#chunks(
      await this.#write(messages, documents.slice(0, maxPassages), noAnswer, signal),
      limits,
    );
  }

  /**
   * Answers a prompt with its own passages, all of which may be read. The passages are not documents of MegaNest, so the
   * answer has no citations: the ids of the prompt are its only markers, where the prompt asks for them.
   */
  async *answerPrompt(
    messages: readonly ChatMessage[],
    { passages, asksForCitations, refusal = this.options.noAnswer }: RagPrompt,
    limits: Limits,
    signal: AbortSignal,
  ): AsyncGenerator<GenerationChunk, void, void> {
    const documents = passages.map(({ text }, index) => ({
      id: String(index),
      text,
      score: 0,
      metadata: {},
    }));
    const idOf = (passage: number) => (asksForCitations ? passages[passage - 1]?.id : undefined);
    const { answer, promptTokens } = await this.#write(messages, documents, refusal, signal, idOf);
    yield* this.#chunks({ answer: { ...answer, citations: [] }, promptTokens }, limits);
  }

  /** One chunk for each of the n equal answers with a given text, which quotes nothing. */
  *say(text: string, limits: Limits): IterableIterator<GenerationChunk> {
    yield* this.#chunks({ answer: { text, citations: [], confidence: 1 }, promptTokens: 0 }, limits);
  }

  *#chunks(
    { answer, promptTokens }: { answer: Answer; promptTokens: number },
    limits: Limits,
  ): IterableIterator<GenerationChunk> {
    const tokens = this.options.tokenize(answer.text);
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
    noAnswer: string,
    signal: AbortSignal,
    idOf?: MarkerOf,
  ): Promise<{ answer: Answer; promptTokens: number }> {
    const { reader, fusion, smallTalk } = this.options;
    const asked = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    const said = await smallTalk?.(asked.at(-1) ?? '');
    if (said !== undefined) return { answer: { text: said, citations: [], confidence: 1 }, promptTokens: 0 };
    const question = questionWithNames(messages);
    const passages = readPassages(documents);
    const isWhole = asksForSummary(asked.at(-1) ?? '') && documents.every(isAttached);
    const beginnings = isWhole ? beginningsOf(passages) : [];
    if (beginnings.length > 0) return { answer: writeAnswer('', beginnings, 1, idOf), promptTokens: 0 };
    const ranking = await rankSentences(
      question,
      passages,
      { reader, fusion, asked: asked.slice(-questionsKept) },
      signal,
    );
    const { promptTokens, confidence } = ranking;
    if (ranking.quotes === 0)
      return { answer: { text: noAnswer, citations: [], confidence: 1 - confidence }, promptTokens };
    const quotes = quotesOf(question, ranking, passages);
    const opening = ranking.quotes === 1 ? '' : unsureOpening;
    return { answer: writeAnswer(opening, quotes, confidence, idOf), promptTokens };
  }
}

/** A passage of a file in the messages; the question may be about the file as a whole. */
function isAttached({ metadata }: RetrievedDocument): boolean {
  return metadata['attached'] === true;
}

/** Limit for the sentences that are quoted from the beginning of a passage. */
const mostOfBeginning = 2;

/** The first sentences of each passage: what a file is about, without a question to rank its sentences. */
function beginningsOf(passages: readonly ReadPassage[]): Quote[] {
  const filled = passages.filter(({ sentences }) => sentences.length > 0);
  return filled.map((passage) => {
    const first = passage.sentences.slice(0, mostOfBeginning);
    const quote = quoteOfSeveral(first, passage);
    const isProse = first.every(({ kind }) => kind === 'paragraph');
    return isProse ? { ...quote, text: first.map(({ text }) => text).join(' ') } : quote;
  });
}

/** The quotes of an answer. A further quote must come from another section where the documents have headings. */
function quotesOf(question: string, ranking: Ranking, passages: readonly ReadPassage[]): Quote[] {
  const passageOf = (number: number) => passages[number - 1]!;
  const several = severalOf(question, ranking.ranked)?.map(({ candidate }) => candidate.sentence) ?? [];
  const quotes = several[0] ? [quoteOfSeveral(several, passageOf(several[0].passage))] : [];
  const explained = new Set<string>();
  const isUnsure = ranking.quotes > 1;
  let rest = ranking.ranked.filter(({ candidate }) => !several.includes(candidate.sentence));
  while (quotes.length < ranking.quotes && rest.length > 0) {
    const next = likeliest(rest, quotes, ranking.elsewhere);
    rest = rest.filter((other) => other !== next);
    const { candidate } = next;
    const section = sectionOf(candidate);
    if (explained.has(section)) continue;
    if (section !== '') explained.add(section);
    const quote = quoteOf(candidate, passageOf(candidate.sentence.passage), { question, isUnsure });
    const isNew = quotes.every(
      ({ text }) => !text.includes(candidate.sentence.text) && !quote.text.includes(text),
    );
    if (isNew) quotes.push(quote);
  }
  return quotes;
}

/** The sentence that adds most to the quotes. */
function likeliest(
  rest: readonly RankedSentence[],
  quotes: readonly Quote[],
  elsewhere: number,
): RankedSentence {
  const quoted = new Set(quotes.map(({ passage }) => passage));
  const worthOf = ({ candidate, logit }: RankedSentence) =>
    logit + (quoted.has(candidate.sentence.passage) ? 0 : elsewhere);
  return rest.reduce((best, one) => (worthOf(one) > worthOf(best) ? one : best));
}

/** The passage and headings of a sentence; empty where the only heading is the document's title. */
function sectionOf({ heading, sentence }: Candidate): string {
  return heading.includes(' > ') ? `${sentence.passage} ${heading}` : '';
}

/** Injection token of the {@link ExtractiveAnswerer}; undefined where the language model answers from documents. */
export const answererToken = Symbol('answerer');

/**
 * Loads the configured reader. A configured language model or engine writes the answers instead, unless a reader is
 * configured, too. Errors: an Error with the failed model and the reason.
 */
export async function openAnswerer(
  environment: LlmEnvironment,
  profile: Profile,
  { generator, library }: { generator: LlmGenerator; library: Library },
): Promise<ExtractiveAnswerer | undefined> {
  const { LLM_ENDPOINT, LLM_MODEL_ID = profile.llm.model, READER_MODEL_ID } = environment;
  const isOwn = LLM_ENDPOINT === undefined && LLM_MODEL_ID === profile.llm.model;
  const model = READER_MODEL_ID ?? (isOwn ? profile.llm.reader : undefined);
  if (model === undefined || model === 'none') return undefined;
  if (!generator.tokenize) return undefined;
  const reader = announceModel(await loadReader(model, modelOptions(environment, profile)));
  return new ExtractiveAnswerer({
    reader,
    fusion: readFusion(reader.directory),
    noAnswer: profile.llm.grounding.noAnswer,
    maxPassages: profile.llm.grounding.maxPassages,
    tokenize: generator.tokenize.bind(generator),
    smallTalk: (message) => answerSmallTalk(message, () => library.describe()),
  });
}
