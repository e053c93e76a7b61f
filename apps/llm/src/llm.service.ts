import {
  assertServedModel,
  samplingParameters,
  type ChatMessage,
  type countPromptTokens,
  type GenerationChunk,
  type ModelInfo,
  type ParsedRequestOf,
  type ReplyOf,
  type TokenUsage,
} from '#platform/contracts';
import type { EngineLoad, GenerationEvent, GenerateRequest as ModelRequest } from '#engine/generation';
import { GenerationMeasure, HealthRegistry, Metrics } from '#platform/service-kit';
import {
  chatTaskOf,
  ragPromptOf,
  smallTalkTopic,
  withBareQuestions,
  type ChatTask,
  type RagPrompt,
  fixedTexts,
} from '#answers/questions';
import { languageOf } from '#platform/foundation';
import { Inject, Injectable, Optional, type OnApplicationShutdown } from '@nestjs/common';
import { askAgain } from './forms/ask-again.js';
import { FormChecker } from './forms/form-checker.js';
import { answerAfterReasoning } from './forms/spent-on-reasoning.js';
import { detectToolFormat, type GenerateRequest } from './tools/tool-format.js';
import { llmSettings, type LlmSettings } from './llm.environment.js';
import { assertImages } from './load-images.js';
import { answererToken } from './open-answerer.js';
import { generatorToken, type LlmGenerator } from './open-generator.js';
import { evidenceTokens } from './grounding/passages.js';
import { planAnswer, withoutUndefined, type AnswerRequest } from './plan-answer.js';
import { type Answer, type ExtractiveAnswerer, tokensOfReader } from '#answers/extractive';
import { ThreadCheck } from './thread-check.js';
import { writeTask } from './writing/write-task.js';
import { templateVariables } from './tools/plan-calls.js';

/** Passages for a model that writes, where a request sets no `top_n`. */
const usualPassages = 20;

/** Writes answers, for requests over HTTP and NATS. */
@Injectable()
export class LlmService implements OnApplicationShutdown {
  readonly #forms = new FormChecker();

  constructor(
    @Inject(generatorToken) private readonly generator: LlmGenerator,
    @Inject(llmSettings) private readonly settings: LlmSettings,
    @Inject(Metrics) private readonly metrics: Metrics,
    /** Absent for a model of an engine, which the service can do without. */
    @Optional() @Inject(HealthRegistry) health?: HealthRegistry,
    /** Absent where the language model also writes answers from documents. */
    @Optional() @Inject(answererToken) private readonly answerer?: ExtractiveAnswerer,
  ) {
    const thread = new ThreadCheck(async () => void (await this.generator.load?.()));
    health?.register('model', async (signal) => {
      // A local model's thread answers between two passes. A generation would wait for the running answers.
      await (this.generator.check?.(signal) ?? thread.check());
      return this.generator.info.id;
    });
    if (answerer) {
      health?.register('reader', async (signal) => {
        await answerer.check(signal);
        return answerer.info.id;
      });
    }
    if (this.generator.load) watchEngine(this.metrics, () => this.generator.load!());
  }

  get model(): ModelInfo {
    const { info, template } = this.generator;
    const { max_tokens, temperature, top_p } = { ...info.defaults, ...this.settings.parameters };
    const defaults = withoutUndefined({ max_tokens, temperature, top_p });
    return {
      ...info,
      ...(Object.keys(defaults).length > 0 && { defaults }),
      ...(this.settings.writes === false && { followsInstructions: false }),
      ...(!this.#callsTools && { callsTools: false }),
      ...(this.answerer && { quotesDocuments: true }),
      ...(this.#searchQueriesWithinMs && { searchQueriesWithinMs: this.#searchQueriesWithinMs }),
      ...(this.#evidence && { evidence: this.#evidence }),
      ...(template && { templateVariables: templateVariables(template.source) }),
    };
  }

  /** Asks the engine of the model for its properties, once. Errors: those of the engine. */
  async prepare(): Promise<void> {
    await this.generator.prepare?.();
  }

  /**
   * Streams the answers; the last chunk has the usage. Leaving the loop or aborting the signal stops the generation
   * within one token. `traceparent`: the trace of the caller.
   * Errors: model_not_found, context_length_exceeded, invalid_request, overloaded, cancelled.
   */
  async *generate(
    request: AnswerRequest,
    signal: AbortSignal,
    traceparent?: string,
  ): AsyncGenerator<GenerationChunk, void, void> {
    const genAi = { side: 'server', model: this.generator.info.id, traceparent } as const;
    const measure = new GenerationMeasure(this.metrics, 'generate', genAi);
    try {
      const ignored = new Set<string>();
      const { chunks, model, settle } = await this.#answer(request, signal, ignored);
      for await (const chunk of chunks) {
        measure.note(chunk);
        if (chunk.usage) settle(chunk.usage);
        if (chunk.support) this.metrics.countSupport(chunk.support);
        const fields = ignored.size > 0 ? { ignored: [...ignored] } : {};
        ignored.clear();
        yield chunk.usage ? { ...chunk, ...fields, model } : { ...chunk, ...fields };
      }
      measure.succeed();
    } catch (error) {
      measure.fail(error);
    } finally {
      measure.end();
    }
  }

  /** Whether an answer to this request consists of sentences of the documents. */
  quotes(request: GenerateRequest): boolean {
    return this.answerer !== undefined && quotes(request);
  }

  /** Streams an answer that consists of sentences of the documents; `promptTokens`: the tokens that were read for it. */
  async *quote(
    answer: Answer,
    promptTokens: number,
    limits: GenerateRequest,
  ): AsyncGenerator<GenerationChunk, void, void> {
    if (!this.answerer) throw new Error('no model that quotes is loaded');
    const { chunks, model, settle } = this.#reading(
      this.answerer,
      this.answerer.tell(answer, promptTokens, limits),
    );
    for await (const chunk of chunks) {
      if (chunk.usage) settle(chunk.usage);
      yield chunk.usage ? { ...chunk, model } : chunk;
    }
  }

  /** Parameters of a request that do not change its answer. */
  unusedParameters(request: GenerateRequest): string[] {
    return this.answerer && (quotes(request) || ownPrompt(request)) ? samplingParameters(request) : [];
  }

  /** Counts the tokens of a conversation's prompt. Errors: model_not_found, unsupported_parameter for images. */
  async countTokens({
    messages,
    model,
    tools,
  }: ParsedRequestOf<typeof countPromptTokens>): Promise<ReplyOf<typeof countPromptTokens>> {
    await this.prepare();
    const { id, maxInputTokens, modalities } = this.generator.info;
    assertServedModel(model, id);
    assertImages(messages, modalities);
    const prompt = await this.promptOf({ messages, tools });
    const promptTokens = await this.generator.countPromptTokens(prompt.messages, prompt.chatTemplateKwargs);
    return { promptTokens, maxInputTokens };
  }

  /** A conversation and its tools as the model gets them. */
  async promptOf(
    conversation: Pick<GenerateRequest, 'messages' | 'tools'>,
  ): Promise<Pick<ModelRequest, 'messages' | 'chatTemplateKwargs'>> {
    await this.prepare();
    return (await planAnswer(conversation, this.settings, this.generator, this.#forms)).request;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.generator.close(), this.answerer?.close(), this.#forms.close()]);
  }

  /** The model is one of a remote engine, which has its own defaults. */
  get isRemote(): boolean {
    return this.generator.check !== undefined;
  }

  /** Fields of a request that ask the model not to reason; empty if it cannot be asked. For short texts of our own. */
  get withoutThinking(): Pick<GenerateRequest, 'chat_template_kwargs'> {
    const { template, withoutThinking } = this.generator;
    const isSwitch = template && templateVariables(template.source).includes('enable_thinking');
    const variables = withoutThinking ?? (isSwitch ? { enable_thinking: false } : undefined);
    return variables ? { chat_template_kwargs: variables } : {};
  }

  /** The request without reasoning; undefined if the model cannot be asked so, or is already. */
  #withoutThinking(request: AnswerRequest): AnswerRequest | undefined {
    const { chat_template_kwargs: off } = this.withoutThinking;
    if (!off || request.chat_template_kwargs?.['enable_thinking'] === false) return undefined;
    const { reasoning_effort: _effort, ...given } = request.chat_template_kwargs ?? {};
    return { ...request, chat_template_kwargs: { ...given, ...off } };
  }

  get #searchQueriesWithinMs(): number | undefined {
    return this.settings.writes === false ? undefined : this.settings.searchQueriesTimeoutMs;
  }

  /** What the reader or the model reads of the documents. */
  get #evidence(): ModelInfo['evidence'] {
    const { context, maxPassages } = this.settings.grounding;
    if (this.answerer) return { passages: maxPassages, tokens: tokensOfReader };
    if (context === 'lines') return undefined;
    const tokens = evidenceTokens(this.generator.info.maxInputTokens);
    return { passages: Math.min(maxPassages, usualPassages), tokens };
  }

  /** A remote engine passes tools to its model by itself. */
  get #callsTools(): boolean {
    const { template } = this.generator;
    return this.settings.callsTools ?? (!template || detectToolFormat(template.source).inTemplate);
  }

  /** `ignored` gets the fields of the request that the engine does not take. */
  async #answer(request: AnswerRequest, signal: AbortSignal, ignored: Set<string>): Promise<OpenAnswer> {
    await this.prepare();
    const { id, modalities } = this.generator.info;
    assertServedModel(request.model, id);
    assertImages(request.messages, modalities);
    const answer = this.answerer && this.#quote(this.answerer, request, signal);
    if (answer) return answer;
    const { generalKnowledge } = this.settings.grounding;
    if (!generalKnowledge && !taskOf(request) && foundNothing(request)) return this.#refuse(request);
    const plan = (given: AnswerRequest) => planAnswer(given, this.settings, this.generator, this.#forms);
    const { request: asked, mayBreak, check, read } = await plan(request);
    const tally = new TokenTally(this.metrics);
    const reportIgnored = (fields: readonly string[]) => fields.forEach((field) => ignored.add(field));
    const generate = (planned: ModelRequest, correction?: ChatMessage) => {
      const turns = correction ? withTurn(planned, correction) : planned;
      // A local model's thread cannot get a function.
      const whole = request.whole === true;
      const model = this.isRemote ? { ...turns, whole, reportIgnored } : turns;
      return tally.count(this.generator.generate(model, signal));
    };
    const quiet = this.#withoutThinking(request);
    const ask = (correction?: ChatMessage) =>
      answerAfterReasoning(read(generate(asked, correction)), {
        limit: request.max_tokens,
        askAgain:
          quiet &&
          (async () => {
            const again = await plan(quiet);
            return again.read(generate(again.request, correction));
          }),
      });
    const events = mayBreak ? askAgain(ask, request.whole === true) : ask();
    const count = () => this.generator.countPromptTokens(asked.messages, asked.chatTemplateKwargs);
    const chunks = check(events, () => tally.soFar(count));
    // Each piece of a remote engine stays one chunk.
    return {
      chunks: this.isRemote ? chunks : inWords(chunks),
      model: id,
      settle: (usage) => tally.settle(usage),
    };
  }

  /** The answer to a question for which the search found nothing. The model is not asked: it knows other things. */
  #refuse({ n = 1, messages }: GenerateRequest): OpenAnswer {
    const text = this.settings.grounding.noAnswer ?? fixedTexts(languageOf(messages)).noAnswer;
    const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
    const certainty = { kind: 'none', confidence: 1 } as const;
    const chunks = Array.from({ length: n }, (_unused, choice): GenerationChunk => {
      const isLast = choice === n - 1;
      return { choice, text, finishReason: 'stop', certainty, ...(isLast && { usage }) };
    });
    return { chunks: inWords(chunks), model: this.generator.info.id, settle: () => undefined };
  }

  /**
   * What the reader answers: the title or the like that a chat page asks for, a prompt with its own passages, or a
   * question with documents.
   */
  #quote(
    answerer: ExtractiveAnswerer,
    request: GenerateRequest,
    signal: AbortSignal,
  ): OpenAnswer | undefined {
    // Blocks have a limit of their own, so that only a caller's limit cuts an answer.
    const { messages, documents = [], neighbours, ...limits } = request;
    const task = taskOf(request);
    if (task) return this.#reading(answerer, answerer.say(writeTask(task), limits));
    const prompt = ownPrompt(request);
    if (prompt) {
      const asked = withBareQuestions(messages, prompt);
      return this.#reading(answerer, answerer.answerPrompt(asked, prompt, limits, signal));
    }
    if (!quotes(request)) return undefined;
    return this.#reading(answerer, answerer.answer(messages, { documents, neighbours }, limits, signal));
  }

  #reading({ info }: ExtractiveAnswerer, chunks: Parameters<typeof inWords>[0]): OpenAnswer {
    return {
      chunks: inWords(chunks),
      model: info.id,
      settle: ({ promptTokens, completionTokens }) => {
        this.metrics.countTokens('prompt', promptTokens);
        this.metrics.countTokens('completion', completionTokens);
      },
    };
  }
}

async function* inWords(
  chunks: AsyncIterable<GenerationChunk> | Iterable<GenerationChunk>,
): AsyncGenerator<GenerationChunk, void, void> {
  for await (const chunk of chunks) yield* byWord(chunk);
}

/**
 * Splits a chunk into words, so that the size of streamed chunks does not depend on speculative tokens or on text that
 * the check held back. The fields at the end of an answer come with its last word. Chunks with logprobs stay whole.
 */
export function byWord(chunk: GenerationChunk): GenerationChunk[] {
  const words = chunk.logprobs ? [chunk.text] : chunk.text.split(/(?<=\S)(?=\s)/);
  const last = words.pop() ?? '';
  const { choice, refusal } = chunk;
  const before = words.map((text) => ({ choice, text, ...(refusal && { refusal }) }));
  return [...before, { ...chunk, text: last }];
}

/** A running answer: its chunks, its model, and the receiver of the final usage. */
interface OpenAnswer {
  chunks: AsyncIterable<GenerationChunk>;
  model: string;
  settle: (usage: TokenUsage) => void;
}

function withTurn(request: ModelRequest, turn: ChatMessage): ModelRequest {
  const { messages } = request;
  return typeof messages === 'string' ? request : { ...request, messages: [...messages, turn] };
}

/**
 * Documents are quoted unless the answer needs another form: a call of a tool, a text with a constraint, or an answer
 * to the caller's template. The model that quotes does not see images.
 */
function quotes(request: GenerateRequest): boolean {
  return request.documents !== undefined && mayBeQuoted(request);
}

function taskOf(request: GenerateRequest): ChatTask | undefined {
  return mayBeQuoted(request) ? chatTaskOf(request.messages) : undefined;
}

/** A prompt of another framework with its own passages. Documents that a search found come first. */
function ownPrompt(request: GenerateRequest): RagPrompt | undefined {
  const { documents, documents_told, messages } = request;
  return documents === undefined && !documents_told && mayBeQuoted(request)
    ? ragPromptOf(messages)
    : undefined;
}

function mayBeQuoted(request: GenerateRequest): boolean {
  const { tools, tool_choice, constraint, chat_template, messages } = request;
  const mayCall = tools !== undefined && tools.length > 0 && tool_choice?.mode !== 'none';
  const shows = messages.some(({ images = [] }) => images.length > 0);
  return !mayCall && !constraint && chat_template === undefined && !shows;
}

/**
 * Whether a search found nothing for a question that needs its passages. A follow-up may be about the conversation, a
 * greeting needs no passages, and tools may help: the model answers these, with its instructions.
 */
function foundNothing(request: GenerateRequest): boolean {
  const { documents, documents_told, messages } = request;
  if (documents_told || !quotes(request) || documents?.some(({ text }) => text.trim() !== '')) return false;
  const asked = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  return asked.length === 1 && !smallTalkTopic(asked[0] ?? '');
}

/** Counts the tokens of one generation while they are written, so that the metrics never lag behind the work. */
class TokenTally {
  #completionTokens = 0;
  #prompt: GenerationEvent['prompt'];

  constructor(private readonly metrics: Pick<Metrics, 'countTokens'>) {}

  async *count(events: AsyncIterable<GenerationEvent>): AsyncGenerator<GenerationEvent, void, void> {
    for await (const event of events) {
      // A remote engine does not report its tokens; mostly each piece of text is one token.
      const tokens = event.tokenIds.length || (event.text === '' ? 0 : 1);
      this.#completionTokens += tokens;
      this.metrics.countTokens('completion', tokens);
      this.#prompt ??= event.prompt;
      yield event;
    }
  }

  /** The usage of a generation that is stopped now. `countPrompt` counts where the engine did not report the prompt. */
  async soFar(countPrompt: () => Promise<number>): Promise<TokenUsage> {
    const prompt = this.#prompt ?? { promptTokens: await countPrompt(), cachedTokens: 0 };
    return { ...prompt, completionTokens: this.#completionTokens };
  }

  /** Updates the metrics to the final usage, which includes the tokens at the end of an answer. */
  settle({ promptTokens, completionTokens }: TokenUsage): void {
    this.metrics.countTokens('prompt', promptTokens);
    this.metrics.countTokens('completion', Math.max(0, completionTokens - this.#completionTokens));
  }
}

/** Adds the load of a local engine to the metrics. */
function watchEngine(metrics: Pick<Metrics, 'watch'>, load: () => Promise<EngineLoad>): void {
  metrics.watch(
    { name: 'meganest_engine_requests', help: 'Requests in the engine', label: 'state' },
    async () => {
      const { running, waiting } = await load();
      return { running, waiting };
    },
  );
  metrics.watch(
    { name: 'meganest_engine_cache_bytes', help: 'Memory of keys and values', label: 'kind' },
    async () => {
      const { sequenceBytes, prefixBytes } = await load();
      return { sequences: sequenceBytes, prefixes: prefixBytes };
    },
  );
}
