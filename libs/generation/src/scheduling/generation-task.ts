import { MegaNestError, type GenerationParameters, type TokenUsage } from '#contracts';
import type { CompiledConstraint } from '#grammar';
import type { DecoderConfig, TokenVocabulary } from '#models';
import { Sampler } from '../sampling/sampler.js';
import { samplingSettings } from '../sampling/sampling-settings.js';
import { Answer, type AnswerLimits, type AnswerOptions, type Drafting } from '../output/answer.js';
import { BestAnswers } from '../output/best-answers.js';
import type { DecoderBackend, DecoderSequence, ForwardItem } from '../backends/decoder-backend.js';
import type { GenerationEvent } from '../generator-interface.js';
import { PromptLookup } from './prompt-lookup.js';

/** A request as the scheduler takes it. */
export interface GenerationWork {
  readonly promptIds: readonly number[];
  readonly parameters: GenerationParameters;
  /** What `parameters.constraint` became. */
  readonly constraint?: CompiledConstraint;
  readonly signal: AbortSignal;
  readonly emit: (event: GenerationEvent) => void;
}

/** What all requests to one model share. */
export interface GenerationModel {
  readonly config: DecoderConfig;
  readonly vocabulary: TokenVocabulary;
  readonly backend: DecoderBackend;
}

/** A request under way: first its prompt goes in, then its answers are written side by side. */
export class GenerationTask {
  answers: readonly Answer[] = [];
  /** Tokens of the prompt that went in. */
  prefilled = 0;
  private cachedTokens = 0;
  /** Resolves after the last event; rejects with what ended the request. */
  readonly done: Promise<void>;
  /** Nothing was emitted yet. */
  private silent = true;
  private sequence?: DecoderSequence;
  /** Where more answers are written than come back. */
  private readonly best?: BestAnswers;
  private resolve = () => {};
  private reject: (error: Error) => void = () => {};

  constructor(
    readonly work: GenerationWork,
    private readonly model: GenerationModel,
  ) {
    this.done = new Promise<void>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    const { n = 1 } = work.parameters;
    if (this.choices > n) this.best = new BestAnswers(n);
  }

  /** Answers that are written; with `best_of` more than come back. */
  get choices(): number {
    const { n = 1, best_of: bestOf = n } = this.work.parameters;
    return bestOf;
  }

  /** Positions to expect: the prompt and, as answers mostly end early, at most some hundred tokens of each answer. */
  get expectedTokens(): number {
    const { maxTokens } = this.limits();
    return this.work.promptIds.length + this.choices * Math.min(maxTokens, 256);
  }

  get isPrefilling(): boolean {
    return this.prefilled < this.work.promptIds.length;
  }

  /** Gives the request its place; its prompt may go in from now on. */
  admit(): void {
    const speculative = this.takesSeveral;
    this.sequence = this.model.backend.openSequence(this.work.promptIds, { speculative });
    this.prefilled = this.sequence.length;
    this.cachedTokens = this.sequence.length;
  }

  /** The next tokens of the prompt; the last of them asks for the logits of the first answer token. */
  nextChunk(): ForwardItem {
    const { promptIds } = this.work;
    const tokens = promptIds.slice(this.prefilled, this.prefilled + this.model.backend.prefillChunk);
    const last = this.prefilled + tokens.length === promptIds.length;
    return { sequence: this.sequence!, tokens, logits: last ? 1 : 0 };
  }

  /** Notes a chunk that went in. */
  acceptChunk(chunk: ForwardItem, logits: Float32Array): void {
    this.prefilled += chunk.tokens.length;
    if (!this.isPrefilling) this.startAnswers(logits);
  }

  /** Begins the answers with the logits behind the prompt's last token. */
  private startAnswers(logits: Float32Array): void {
    // Kept one by one, so that a failure midway frees those that there are.
    for (let choice = 0; choice < this.choices; choice++)
      this.answers = [...this.answers, this.newAnswer(choice)];
    for (const answer of this.answers) this.advance(answer, logits, false);
  }

  /**
   * Draws the next tokens of an answer from `[rows, vocabulary]` and emits what became certain.
   * @param wide The pass was over several tokens, of this answer or of one beside it.
   */
  advance(answer: Answer, logits: Float32Array, wide: boolean): void {
    const event = answer.advance(this.rowsOf(logits), wide);
    if (answer.finished) answer.release();
    if (event && this.best) this.best.add(event);
    else if (event) this.emit(this.isFinished ? { ...event, usage: this.usage() } : event);
    if (!this.isFinished) return;
    if (this.best) this.emitBest(this.best);
    this.resolve();
  }

  private emitBest(best: BestAnswers): void {
    const events = best.choose(this.answers.map(({ logLikelihood, tokens }) => logLikelihood / tokens));
    events.forEach((event, index) =>
      this.emit(index === events.length - 1 ? { ...event, usage: this.usage() } : event),
    );
  }

  private emit(event: GenerationEvent): void {
    const { promptTokens, cachedTokens } = this.usage();
    this.work.emit(this.silent ? { ...event, prompt: { promptTokens, cachedTokens } } : event);
    this.silent = false;
  }

  fail(error: unknown): void {
    this.sequence?.release();
    for (const answer of this.answers) answer.release();
    this.reject(error instanceof Error ? error : new Error(String(error)));
  }

  cancel(): void {
    this.fail(new MegaNestError('cancelled'));
  }

  get isFinished(): boolean {
    return this.answers.length > 0 && this.answers.every(({ finished }) => finished);
  }

  private newAnswer(choice: number): Answer {
    const { config, vocabulary, backend } = this.model;
    const { parameters, promptIds } = this.work;
    const sampler = new Sampler(parameters, config.defaults, new Set(promptIds), vocabulary, choice);
    const constraint = this.work.constraint?.start();
    const sequence = choice === 0 ? this.sequence! : this.sequence!.fork();
    const options: AnswerOptions = {
      drafting: this.drafting(),
      constraint,
      jumps: this.jumps,
      margin: this.takesSeveral ? backend.draftMargin : undefined,
    };
    return new Answer(choice, sequence, sampler, this.limits(), options);
  }

  /** Several tokens may go in at a time, so that passes round differently. */
  private get takesSeveral(): boolean {
    return this.maxDrafts > 0 || this.jumps;
  }

  /**
   * Whether tokens without a choice go in without a pass for each. Not where the logits of every token are asked for, nor
   * where a seed promises the same draws beside any others: how a pass rounds depends on how many tokens it takes.
   */
  private get jumps(): boolean {
    const { constraint, parameters } = this.work;
    if (!constraint || parameters.logprobs || this.best) return false;
    const { temperature } = samplingSettings(parameters, this.model.config.defaults);
    return temperature === 0 || parameters.seed === undefined;
  }

  private drafting(): Drafting | undefined {
    if (this.maxDrafts === 0) return undefined;
    const { parameters, promptIds } = this.work;
    const lookup = new PromptLookup(promptIds, parameters.max_ngram_size ?? 3);
    return { lookup, maxDrafts: this.maxDrafts };
  }

  private get maxDrafts(): number {
    return Math.min(this.work.parameters.num_assistant_tokens ?? 0, this.model.backend.maxDrafts);
  }

  private rowsOf(logits: Float32Array): Float32Array[] {
    const width = this.model.config.vocabularySize;
    return Array.from({ length: logits.length / width }, (_unused, row) =>
      logits.subarray(row * width, (row + 1) * width),
    );
  }

  private limits(): AnswerLimits {
    const { parameters, promptIds } = this.work;
    const room = this.model.config.contextLength - promptIds.length;
    return {
      vocabulary: this.model.vocabulary,
      stops: [parameters.stop ?? []].flat(),
      endTokenIds: new Set(parameters.ignore_eos ? [] : this.model.config.endTokenIds),
      maxTokens: Math.min(parameters.max_tokens ?? room, room),
      includeStop: parameters.include_stop_str_in_output ?? false,
    };
  }

  private usage(): TokenUsage {
    const completionTokens = this.answers.reduce((total, { tokens }) => total + tokens, 0);
    return { promptTokens: this.work.promptIds.length, completionTokens, cachedTokens: this.cachedTokens };
  }
}
