import { MegaNestError, type GenerationParameters, type TokenUsage } from '#contracts';
import type { DecoderConfig } from '../model/model-config.js';
import { Sampler } from '../sampling/sampler.js';
import type { TokenVocabulary } from '../tokenizer/token-vocabulary.js';
import { Answer, type AnswerLimits } from './answer.js';
import type { DecoderSequence, ForwardItem } from './decoder-backend.js';
import type { GenerationEvent } from './generator-interface.js';

/** A request as the scheduler takes it. */
export interface GenerationWork {
  readonly promptIds: readonly number[];
  readonly parameters: GenerationParameters;
  readonly signal: AbortSignal;
  readonly emit: (event: GenerationEvent) => void;
}

/** What all requests to one model share. */
export interface GenerationModel {
  readonly config: DecoderConfig;
  readonly vocabulary: TokenVocabulary;
}

/** A request under way: first its prompt goes in, then its answers are written side by side. */
export class GenerationTask {
  answers: readonly Answer[] = [];
  /** Tokens of the prompt that went in. */
  prefilled = 0;
  /** Resolves after the last event; rejects with what ended the request. */
  readonly done: Promise<void>;
  private sequence?: DecoderSequence;
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
  }

  get choices(): number {
    return this.work.parameters.n ?? 1;
  }

  get isPrefilling(): boolean {
    return this.prefilled < this.work.promptIds.length;
  }

  /** Gives the request its place; its prompt may go in from now on. */
  admit(sequence: DecoderSequence): void {
    this.sequence = sequence;
  }

  /** The next tokens of the prompt; the last of them asks for the logits of the first answer token. */
  nextChunk(size: number): ForwardItem {
    const { promptIds } = this.work;
    const tokens = promptIds.slice(this.prefilled, this.prefilled + size);
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
    this.answers = Array.from({ length: this.choices }, (_unused, choice) => this.newAnswer(choice));
    for (const answer of this.answers) this.advance(answer, logits);
  }

  /** Draws the next token of an answer and emits what became certain. */
  advance(answer: Answer, logits: Float32Array): void {
    const event = answer.advance(logits);
    if (answer.finished) answer.sequence.release();
    const last = this.answers.every(({ finished }) => finished);
    if (event) this.work.emit(last ? { ...event, usage: this.usage() } : event);
    if (last) this.resolve();
  }

  fail(error: unknown): void {
    this.sequence?.release();
    for (const { sequence } of this.answers) sequence.release();
    this.reject(error instanceof Error ? error : new Error(String(error)));
  }

  cancel(): void {
    this.fail(new MegaNestError('cancelled'));
  }

  get isFinished(): boolean {
    return this.answers.length > 0 && this.answers.every(({ finished }) => finished);
  }

  private newAnswer(choice: number): Answer {
    const { config, vocabulary } = this.model;
    const { parameters, promptIds } = this.work;
    const sampler = new Sampler(parameters, config.defaults, new Set(promptIds), vocabulary, choice);
    const sequence = choice === 0 ? this.sequence! : this.sequence!.fork();
    return new Answer(choice, sequence, sampler, vocabulary, this.limits());
  }

  private limits(): AnswerLimits {
    const { parameters, promptIds } = this.work;
    const room = this.model.config.contextLength - promptIds.length;
    return {
      stops: [parameters.stop ?? []].flat(),
      endTokenIds: new Set(parameters.ignore_eos ? [] : this.model.config.endTokenIds),
      maxTokens: Math.min(parameters.max_tokens ?? room, room),
    };
  }

  private usage(): TokenUsage {
    const completionTokens = this.answers.reduce((total, { tokens }) => total + tokens, 0);
    return { promptTokens: this.work.promptIds.length, completionTokens, cachedTokens: 0 };
  }
}
