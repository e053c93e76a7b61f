import { MegaNestError, type GenerationParameters, type TokenUsage } from '#platform/contracts';
import type { CompiledConstraint } from '#engine/grammar';
import type { DecoderConfig, TokenVocabulary } from '#engine/models';
import { Sampler } from '../sampling/sampler.js';
import { samplingSettings } from '../sampling/choose-token.js';
import {
  Completion,
  type CompletionLimits,
  type CompletionOptions,
  type Drafting,
  BestOf,
} from '../output/completion.js';
import { Repetition } from '../output/repetition.js';
import type { DecoderBackend, DecoderSequence, ForwardItem } from '../decoder-backend.js';
import type { GenerationEvent } from '../generator-interface.js';
import type { PromptImages } from '../images/prompt-images.js';
import { PromptLookup } from '../sampling/prompt-lookup.js';

/** A request to the scheduler. */
export interface GenerationWork {
  readonly promptIds: readonly number[];
  /** Whose share of the decoder it uses; default: the program's own work. */
  readonly client?: string;
  /** The images of the prompt. */
  readonly images?: PromptImages;
  readonly parameters: GenerationParameters;
  /** `parameters.constraint`, compiled. */
  readonly constraint?: CompiledConstraint;
  /** The completion goes on with the prompt's text, so that a space at its start stays. */
  readonly goesOn?: boolean;
  readonly signal: AbortSignal;
  readonly emit: (event: GenerationEvent) => void;
}

/** The parts of a model that all its requests share. */
export interface GenerationModel {
  readonly config: DecoderConfig;
  readonly vocabulary: TokenVocabulary;
  readonly backend: DecoderBackend;
}

/** A running request: prefill of its prompt, then its completions together. */
export class GenerationTask {
  completions: readonly Completion[] = [];
  /** Number of prompt tokens in the KV cache. */
  prefilled = 0;
  private cachedTokens = 0;
  /** Resolves after the last event; rejects with the error that ended the request. */
  readonly done: Promise<void>;
  /** True until the first event. */
  private silent = true;
  private sequence?: DecoderSequence;
  /** Set if `best_of` exceeds `n`. */
  private readonly best?: BestOf;
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
    if (this.choices > n) this.best = new BestOf(n);
  }

  /** The client whose request it is. */
  get client(): string {
    return this.work.client ?? '';
  }

  /** Number of completions to generate; with `best_of` more than are returned. */
  get choices(): number {
    const { n = 1, best_of: bestOf = n } = this.work.parameters;
    return bestOf;
  }

  /** Expected positions: the prompt, and at most 256 tokens of each completion, since most end early. */
  get expectedTokens(): number {
    const { maxTokens } = this.limits();
    return this.work.promptIds.length + this.choices * Math.min(maxTokens, 256);
  }

  get isPrefilling(): boolean {
    return this.prefilled < this.work.promptIds.length;
  }

  /** Opens the sequence; prefill may begin. */
  admit(): void {
    const { promptIds, images } = this.work;
    const options = {
      speculative: this.takesSeveral,
      repeatable: this.isRepeatable,
      ...(images && { images }),
    };
    this.sequence = this.model.backend.openSequence(promptIds, options);
    this.prefilled = this.sequence.length;
    this.cachedTokens = this.sequence.length;
  }

  /** Returns the next prefill chunk; the last one asks for the logits of the first completion token. */
  nextChunk(): ForwardItem {
    const { promptIds } = this.work;
    const tokens = promptIds.slice(this.prefilled, this.prefilled + this.model.backend.prefillChunk);
    const last = this.prefilled + tokens.length === promptIds.length;
    return { sequence: this.sequence!, tokens, logits: last ? 1 : 0 };
  }

  /** Records a chunk after its pass. */
  acceptChunk(chunk: ForwardItem, logits: Float32Array): void {
    this.prefilled += chunk.tokens.length;
    if (!this.isPrefilling) this.startCompletions(logits);
  }

  /** Starts the completions with the logits of the prompt's last token. */
  private startCompletions(logits: Float32Array): void {
    // Adds them one by one, so that an error midway frees the completions that exist.
    for (let choice = 0; choice < this.choices; choice++)
      this.completions = [...this.completions, this.newCompletion(choice)];
    for (const completion of this.completions) this.advance(completion, logits, false);
  }

  /**
   * Samples the next tokens of a completion from `[rows, vocabularySize]` and emits the final text.
   * @param wide The pass was over several tokens, of this or of another completion of the batch.
   */
  advance(completion: Completion, logits: Float32Array, wide: boolean): void {
    const event = completion.advance(this.rowsOf(logits), wide);
    if (completion.finished) completion.release();
    if (event && this.best) this.best.add(event);
    else if (event) this.emit(this.isFinished ? { ...event, usage: this.usage() } : event);
    if (!this.isFinished) return;
    if (this.best) this.emitBest(this.best);
    this.resolve();
  }

  private emitBest(best: BestOf): void {
    const events = best.choose(this.completions.map(({ logLikelihood, tokens }) => logLikelihood / tokens));
    events.forEach((event, index) =>
      this.emit(index === events.length - 1 ? { ...event, usage: this.usage() } : event),
    );
  }

  private emit(event: GenerationEvent): void {
    const { promptTokens, cachedTokens } = this.usage();
    this.work.emit(this.silent ? { ...event, prompt: { promptTokens, cachedTokens } } : event);
    this.silent = false;
  }

  /** Frees the sequences and rejects with the error. */
  fail(error: unknown): void {
    this.sequence?.release();
    for (const completion of this.completions) completion.release();
    this.reject(error instanceof Error ? error : new Error(String(error)));
  }

  /** Ends the request with the error `cancelled`. */
  cancel(): void {
    this.fail(new MegaNestError('cancelled'));
  }

  get isFinished(): boolean {
    return this.completions.length > 0 && this.completions.every(({ finished }) => finished);
  }

  private newCompletion(choice: number): Completion {
    const { config, vocabulary, backend } = this.model;
    const { parameters, promptIds } = this.work;
    const sampler = new Sampler(parameters, config.defaults, new Set(promptIds), vocabulary, choice);
    const constraint = this.work.constraint?.start();
    const sequence = choice === 0 ? this.sequence! : this.sequence!.fork();
    const options: CompletionOptions = {
      drafting: this.drafting(),
      constraint,
      jumpsForward: this.jumpsForward,
      margin: this.takesSeveral ? backend.draftMargin : undefined,
      isRepeatable: this.isRepeatable,
      // A constraint may ask for repetition, and `ignore_eos` asks for every token.
      repetition: constraint || parameters.ignore_eos ? undefined : new Repetition(),
    };
    return new Completion(choice, sequence, sampler, this.limits(), options);
  }

  /** The tokens do not depend on other requests: with a seed, and where the likeliest token is always taken. */
  private get isRepeatable(): boolean {
    const {
      parameters,
      parameters: { seed },
    } = this.work;
    return seed !== undefined || samplingSettings(parameters, this.model.config.defaults).temperature === 0;
  }

  /** Passes may take several tokens, which changes how they round. */
  private get takesSeveral(): boolean {
    return this.maxDrafts > 0 || this.jumpsForward;
  }

  /** True if jump-forward decoding is used. Not with `logprobs`, which needs the logits of every token. */
  private get jumpsForward(): boolean {
    const { constraint, parameters } = this.work;
    return constraint !== undefined && !parameters.logprobs && !this.best;
  }

  private drafting(): Drafting | undefined {
    if (this.maxDrafts === 0) return undefined;
    const { parameters, promptIds } = this.work;
    const lookup = new PromptLookup(promptIds, parameters.max_ngram_size ?? 3);
    return { lookup, maxDrafts: this.maxDrafts, isSteady: this.isRepeatable };
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

  private limits(): CompletionLimits {
    const { parameters, promptIds } = this.work;
    const room = this.model.config.contextLength - promptIds.length;
    return {
      vocabulary: this.model.vocabulary,
      stops: [parameters.stop ?? []].flat(),
      endTokenIds: new Set(parameters.ignore_eos ? [] : this.model.config.endTokenIds),
      maxTokens: Math.min(parameters.max_tokens ?? room, room),
      includeStop: parameters.include_stop_str_in_output ?? false,
      droppedSpaces: this.work.goesOn ? 0 : this.model.vocabulary.droppedSpaces,
    };
  }

  private usage(): TokenUsage {
    const completionTokens = this.completions.reduce((total, { tokens }) => total + tokens, 0);
    return { promptTokens: this.work.promptIds.length, completionTokens, cachedTokens: this.cachedTokens };
  }
}
