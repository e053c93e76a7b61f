import {
  assertServedModel,
  decodeVectors,
  embed,
  invalidField,
  MegaNestError,
  unsupportedField,
  type GenerationChunk,
  type ParsedRequestOf,
  type ReplyOf,
  type summarize,
  type TokenUsage,
  type writeFaq,
  type writeSearchQueries,
} from '#platform/contracts';
import { RpcClient, type CallOptions } from '#platform/messaging';
import { documentTexts } from '#answers/questions';
import { languageOf } from '#platform/foundation';
import { Inject, Injectable } from '@nestjs/common';
import type { GenerateRequest } from '../tools/tool-format.js';
import { LlmService } from '../llm.service.js';
import { llmSettings, type LlmSettings } from '../llm.environment.js';
import { withoutUndefined } from '../plan-answer.js';
import { ExtractiveWriter } from './extractive-writer.js';
import { GenerativeWriter, languageName } from './generative-writer.js';
import { queriesWith, queryLimits } from './search-queries.js';
import { quoteDifferences } from './quotes/quote-differences.js';
import { quoteSummary } from './quotes/quote-summary.js';
import { fitsWhole, takeNotes } from './whole-notes.js';
import { cutIntoPieces, writeSummary } from './write-summary.js';
import { UsageSum, type TextWriter } from './text-writer.js';

type SummaryCall = ParsedRequestOf<typeof summarize>;
type FaqCall = ParsedRequestOf<typeof writeFaq>;
/** A request about all passages of one or two documents. */
type WholeRequest = GenerateRequest & Required<Pick<GenerateRequest, 'documents' | 'reads_whole'>>;
type Call = CallOptions & { signal: AbortSignal };

const defaultQuestions = 5;
/** Sentences embedded in one call. */
const batchSize = 128;

/** Writes texts about texts: summaries, and questions with answers. */
@Injectable()
export class WritingService {
  constructor(
    @Inject(LlmService) private readonly llm: LlmService,
    @Inject(llmSettings) private readonly settings: LlmSettings,
    @Inject(RpcClient) private readonly client: RpcClient,
  ) {}

  summarize({ model, ...request }: SummaryCall, call: Call): AsyncIterable<GenerationChunk> {
    assertServedModel(model, this.llm.model.id);
    const { text, summary_type: type = 'auto', chunk_size, chunk_overlap, language, ...parameters } = request;
    const writer = this.#writer({ language, parameters }, call);
    return writeSummary({ text, type, ...pieceSizes({ chunk_size, chunk_overlap }) }, writer, call.signal);
  }

  writeFaq({ model, ...request }: FaqCall, call: Call): AsyncIterable<GenerationChunk> {
    assertServedModel(model, this.llm.model.id);
    const { text, faq_count, chunk_size, chunk_overlap, language, ...parameters } = request;
    const writer = this.#writer({ language, parameters }, call);
    const count = faq_count ?? defaultQuestions;
    return writeFaqOf({ text, count, ...pieceSizes({ chunk_size, chunk_overlap }) }, writer, call.signal);
  }

  /** Writes the search queries for the last message of a conversation where the model writes; otherwise none. */
  async searchQueries(
    { messages, languages }: ParsedRequestOf<typeof writeSearchQueries>,
    signal: AbortSignal,
  ): Promise<ReplyOf<typeof writeSearchQueries>> {
    if (!this.llm.model.searchQueriesWithinMs) return { queries: [] };
    // Reasoning would take longer than the queries.
    const limits = this.llm.isRemote ? {} : queryLimits;
    const { withoutThinking } = this.llm;
    const ask = (prompt: GenerateRequest) =>
      this.llm.generate({ ...prompt, ...limits, ...withoutThinking }, signal);
    return queriesWith({ messages, languages, today: new Date() }, ask);
  }

  /**
   * Summarizes or compares whole documents, and cites their passages. A model that writes reads them in one prompt, or takes
   * notes of their parts first; a model that quotes gives their central sentences, or those that differ.
   */
  async *readWhole(request: WholeRequest, call: Call): AsyncGenerator<GenerationChunk, void, void> {
    const { reads_whole: kind, documents } = request;
    const { signal, traceparent } = call;
    if (this.llm.quotes(request)) {
      const quote = kind === 'comparison' ? quoteDifferences : quoteSummary;
      const { answer, promptTokens } = await quote(
        documents,
        (sentences) => this.#embed(sentences, call),
        signal,
        documentTexts(languageOf(request.messages) ?? 'en'),
      );
      yield* this.llm.quote(answer, promptTokens, request);
      return;
    }
    const model = {
      maxInputTokens: this.llm.model.maxInputTokens,
      limitsItself: this.llm.isRemote,
      withoutThinking: this.llm.withoutThinking,
      generate: this.llm.generate.bind(this.llm),
    };
    if (fitsWhole(documents, model)) {
      yield* this.llm.generate(request, signal, traceparent);
      return;
    }
    const { notes, usage } = yield* takeNotes(request, model, signal);
    yield* usage.addTo(this.llm.generate({ ...request, notes }, signal, traceparent));
  }

  #writer(
    {
      language,
      parameters,
    }: { language?: string; parameters: Pick<SummaryCall, 'max_tokens' | 'temperature'> },
    call: Call,
  ): TextWriter {
    const { id, maxInputTokens } = this.llm.model;
    const name = languageName(language);
    if (this.settings.writes !== false) {
      const model = {
        maxInputTokens,
        limitsItself: this.llm.isRemote,
        generate: this.llm.generate.bind(this.llm),
        countPromptTokens: async (prompt: Pick<FaqCallPrompt, 'messages'>) =>
          (await this.llm.countTokens(prompt)).promptTokens,
      };
      const { max_tokens: _ownLimit, ...sampling } = this.settings.grounding.parameters ?? {};
      const wished = { ...sampling, ...withoutUndefined(parameters) };
      return new GenerativeWriter(model, { parameters: wished, language: name });
    }
    if (name !== undefined && name !== 'English') throw writesNothing(id, name);
    return new ExtractiveWriter((texts) => this.#embed(texts, call), parameters.max_tokens);
  }

  async #embed(texts: string[], call: Call) {
    const vectors: Float32Array[] = [];
    let promptTokens = 0;
    for (let first = 0; first < texts.length; first += batchSize) {
      const inputs = texts.slice(first, first + batchSize);
      const reply = await this.client.request(
        embed,
        { inputs, truncate: true, input_type: 'document' },
        call,
      );
      vectors.push(...decodeVectors(reply.vectors, reply.dimensions));
      promptTokens += reply.promptTokens;
    }
    return { vectors, promptTokens };
  }
}

type FaqCallPrompt = Parameters<LlmService['countTokens']>[0];

/** In the reference -1 means the default. Errors: invalid_request where the overlap is not smaller than the piece. */
function pieceSizes({
  chunk_size: size = -1,
  chunk_overlap: overlap = -1,
}: Pick<SummaryCall, 'chunk_size' | 'chunk_overlap'>) {
  if (size > 0 && overlap >= size) {
    throw invalidField('chunk_overlap', `${overlap} is not smaller than the chunk size of ${size} words`);
  }
  return { ...(size > 0 && { pieceWords: size }), ...(overlap > 0 && { overlapWords: overlap }) };
}

function writesNothing(model: string, language: string): MegaNestError {
  const reason = `${model} cannot write ${language}; its answer consists of the text's own sentences`;
  return unsupportedField('language', reason);
}

export interface FaqRequest {
  text: string;
  /** Limit for the number of questions. */
  count: number;
  pieceWords?: number;
  overlapWords?: number;
}

/** Streams questions and answers about a text, piece after piece where it is too long for one step. */
export async function* writeFaqOf(
  request: FaqRequest,
  writer: TextWriter,
  signal: AbortSignal,
): AsyncGenerator<GenerationChunk, void, void> {
  const pieces = await piecesOf(request, writer, signal);
  const sum = new UsageSum();
  let last: { usage?: TokenUsage; finishReason?: GenerationChunk['finishReason']; model?: string } = {};
  let separator = '';
  for (const { text, count } of shareOut(pieces, request.count)) {
    for await (const chunk of sum.addTo(writer.write({ kind: 'faq', text, count }, signal))) {
      const { usage, finishReason, model, ...rest } = chunk;
      last = {
        ...last,
        ...(usage && { usage }),
        ...(finishReason && { finishReason }),
        ...(model && { model }),
      };
      if (rest.text === '') continue;
      yield separator ? { ...rest, text: separator + rest.text.trimStart() } : rest;
      separator = '';
    }
    separator = '\n\n';
  }
  yield { choice: 0, text: '', finishReason: 'stop', ...last };
}

async function piecesOf(
  { text, pieceWords, overlapWords }: FaqRequest,
  writer: TextWriter,
  signal: AbortSignal,
): Promise<string[]> {
  if (pieceWords === undefined && (await writer.fits(text))) return [text];
  const size = Math.min(pieceWords ?? writer.pieceWords, writer.pieceWords);
  return cutIntoPieces(text, { size, overlap: overlapWords }, signal);
}

/** Where there are more pieces than questions, the questions are spread over the whole text. */
function shareOut(pieces: readonly string[], count: number): { text: string; count: number }[] {
  const asked = Math.min(pieces.length, count);
  return Array.from({ length: asked }, (_unused, index) => {
    const text = pieces[Math.floor((index * pieces.length) / asked)] ?? '';
    return { text, count: Math.floor(((index + 1) * count) / asked) - Math.floor((index * count) / asked) };
  });
}
