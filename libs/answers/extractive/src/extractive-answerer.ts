import {
  isAttached,
  type ChatMessage,
  type generate,
  type GenerationChunk,
  type ParsedRequestOf,
  type RetrievedDocument,
} from '#platform/contracts';
import type { Reader } from '#engine/encoders';
import type { Generator } from '#engine/generation';
import {
  asksForSummary,
  fixedTexts,
  mentionedIn,
  questionWithNames,
  withoutForm,
  type FixedTexts,
  type RagPrompt,
} from '#answers/questions';
import { languageOf } from '#platform/foundation';
import { alignQuestion } from './question/align-question.js';
import { applyForm } from './apply-form.js';
import { beginningsOf, blocksOf, closestOf } from './compose-answer.js';
import { listDocuments, type DocumentList } from './list-documents.js';
import { asksOverRows } from './question/question-type.js';
import { missingNames } from './question/missing-names.js';
import { rankSentences, type Fusion, type Ranking } from './rank-sentences.js';
import { readPassages } from './sentence.js';
import { answerFromPassages } from './table-answer.js';
import { limitAnswer, locateQuotes, writeAnswer, type Answer, type MarkerOf } from './written-answer.js';

/** Number of the last questions of the conversation whose repetition does not count as an answer. */
const questionsKept = 4;
/** Confidence above which an answer is right even if its passages do not have a name of the question. */
const sureWithoutNames = 0.8;

/** Confidence in a list of documents that have the words of the question. */
const sureOfList = 0.9;

type GenerateRequest = ParsedRequestOf<typeof generate>;

interface AnswererOptions {
  readonly reader: Reader;
  readonly fusion: Fusion;
  /** The profile's own text where no sentence answers the question; absent: a text in the language of the question. */
  readonly noAnswer?: string | undefined;
  /** Limit for the passages to read, in the order of the search. */
  readonly maxPassages: number;
  /** Splits a text into the texts of its tokens. */
  readonly tokenize: NonNullable<Generator['tokenize']>;
  /** The answer to a greeting or to a question about the assistant; undefined for any other message. */
  readonly smallTalk?: (message: string) => Promise<string | undefined>;
}

/** What the search found, and the passages around it. */
type Found = Pick<GenerateRequest, 'neighbours'> & {
  readonly documents: readonly RetrievedDocument[];
  /** All passages that the search found, for a list of documents; absent: no more than `documents`. */
  readonly all?: readonly RetrievedDocument[];
};

type Limits = Pick<
  GenerateRequest,
  'n' | 'max_tokens' | 'stop' | 'include_stop_str_in_output' | 'logprobs' | 'top_logprobs'
>;

/**
 * Answers with unchanged text of the documents and its `[n]`: the block around the sentence that probably answers, two
 * blocks that are called the closest passages where this is less likely, and a refusal where it is not likely.
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
    { documents, neighbours }: Found,
    limits: Limits,
    signal: AbortSignal,
  ): AsyncGenerator<GenerationChunk, void, void> {
    const { maxPassages, noAnswer } = this.options;
    const found = { documents: documents.slice(0, maxPassages), neighbours, all: documents };
    const chunks = [...documents, ...(neighbours ?? [])];
    for (const chunk of this.#chunks(await this.#write(messages, found, noAnswer, signal), limits))
      yield chunk.citations ? { ...chunk, citations: locateQuotes(chunk.citations, chunks) } : chunk;
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
    const { answer, promptTokens } = await this.#write(messages, { documents }, refusal, signal, idOf);
    yield* this.#chunks({ answer: { ...answer, citations: [] }, promptTokens }, limits);
  }

  /** One chunk for each of the n equal answers with a given text, which quotes nothing. */
  *say(text: string, limits: Limits): IterableIterator<GenerationChunk> {
    yield* this.#chunks({ answer: { text, citations: [], confidence: 1 }, promptTokens: 0 }, limits);
  }

  /** One chunk for each of the n equal answers with a composed answer and its citations. */
  *tell(answer: Answer, promptTokens: number, limits: Limits): IterableIterator<GenerationChunk> {
    yield* this.#chunks({ answer, promptTokens }, limits);
  }

  *#chunks(
    { answer, promptTokens }: { answer: Answer; promptTokens: number },
    limits: Limits,
  ): IterableIterator<GenerationChunk> {
    const tokens = this.options.tokenize(answer.text);
    const { completionTokens, ...written } = limitAnswer(answer, tokens, limits);
    const { citations, ...rest } = {
      ...written,
      ...(written.citations.length === 0 && { citations: undefined }),
    };
    const { kind, confidence } = answer;
    const chunk = {
      ...rest,
      ...(kind && { certainty: { kind, confidence: Number(confidence.toFixed(4)) } }),
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
    { documents, neighbours, all = documents }: Found,
    noAnswer: string | undefined,
    signal: AbortSignal,
    idOf?: MarkerOf,
  ): Promise<{ answer: Answer; promptTokens: number }> {
    const { reader, fusion, smallTalk } = this.options;
    const asked = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    const said = await smallTalk?.(asked.at(-1) ?? '');
    if (said !== undefined) return { answer: { text: said, citations: [], confidence: 1 }, promptTokens: 0 };
    const named = questionWithNames(messages);
    const { question, form } = withoutForm(named);
    const passages = readPassages(documents, neighbours);
    const texts = fixedTexts(languageOf(messages));
    const isWhole = asksForSummary(asked.at(-1) ?? '') && documents.every(isAttached);
    const beginnings = isWhole ? beginningsOf(passages) : [];
    if (beginnings.length > 0) return { answer: writeAnswer('', beginnings, 1, idOf), promptTokens: 0 };
    const listed = idOf ? undefined : listedFor(asked.at(-1) ?? '', all, texts);
    if (listed)
      return {
        answer: { ...writeAnswer(listed.opening, listed.blocks, sureOfList), kind: 'answer' },
        promptTokens: 0,
      };
    const ranking = await rankSentences(
      question,
      passages,
      { reader, fusion, asked: asked.slice(-questionsKept) },
      signal,
    );
    const fromTable = isProse(ranking, question)
      ? undefined
      : answerFromPassages({ question, form }, documents, neighbours);
    if (fromTable) {
      const { block, certainty, isPartial } = fromTable;
      const answer = writeAnswer('', [block], certainty, idOf);
      const kind = isPartial ? 'closest' : 'answer';
      return { answer: { ...answer, kind }, promptTokens: ranking.promptTokens };
    }
    const { promptTokens, confidence, certainty } = ranking;
    // A prompt of another framework has its own refusal.
    const mayLackNames = !idOf && confidence <= sureWithoutNames;
    const names = mayLackNames ? missingNames(alignQuestion(asked.at(-1) ?? '', passages), passages) : [];
    const missing = names.length === 0 ? '' : texts.missing(names);
    if (certainty === 'none' || certainty === 'near' || (certainty === 'closest' && missing !== '')) {
      const near = certainty !== 'none' && !idOf ? closestOf(question, ranking, passages, texts) : '';
      const text = [noAnswer ?? texts.noAnswer, missing].filter(Boolean).join(' ') + near;
      return { answer: { text, citations: [], confidence: 1 - confidence, kind: 'none' }, promptTokens };
    }
    const found = blocksOf(question, ranking, passages, texts);
    const { blocks, declined } = form ? applyForm(form, question, found) : { blocks: found, declined: '' };
    const closest = texts.closest[Math.min(blocks.length, 2) - 1]!;
    const isAnswer = certainty === 'answer' && missing === '';
    const opening = isAnswer ? declined : `${missing} ${closest}`.trimStart();
    const answer = writeAnswer(opening, blocks, confidence, idOf);
    return { answer: { ...answer, kind: isAnswer ? 'answer' : 'closest' }, promptTokens };
  }
}

/** Passages from which on a search may have left out others. */
const usualPassages = 20;

/** The documents that mention something, if a question asks for them. */
function listedFor(
  question: string,
  documents: readonly RetrievedDocument[],
  texts: FixedTexts,
): DocumentList | undefined {
  const topic = mentionedIn(question);
  if (topic === undefined) return undefined;
  const isPartial = documents.length >= usualPassages;
  return listDocuments(topic, readPassages(documents), { texts, isPartial });
}

/** Confidence from which on prose answers a question over the rows of a table. */
const sureOverRows = 0.8;

/** Whether a text that is not a row of a table probably answers. */
function isProse({ certainty, confidence, ranked }: Ranking, question: string): boolean {
  const isSure = !asksOverRows(question) || confidence >= sureOverRows;
  return certainty === 'answer' && isSure && ranked[0]!.candidate.sentence.kind !== 'row';
}
