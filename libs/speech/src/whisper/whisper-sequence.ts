import { createRandom } from '#models';
import type { TokenRules } from './token-rules.js';

/** A window of audio to be written down. */
export interface WindowTask {
  /** At most a window of samples. */
  readonly samples: Float32Array;
  /** Tokens of what was said before, or of names and spellings. */
  readonly previous: readonly number[];
  /** Code of a language; without it the model says which one it hears. */
  readonly language?: string;
  readonly task: 'transcribe' | 'translate';
  /** Tried in this order until the text is good enough. */
  readonly temperatures: readonly number[];
  readonly timestamps: boolean;
  /** Tell where each token looks, for times of words. */
  readonly withAlignment: boolean;
  readonly signal: AbortSignal;
}

/** What was heard in a window. */
export interface HeardWindow {
  /** Text and timestamps, without the mark of the end. */
  readonly tokens: readonly number[];
  readonly logProbabilities: readonly number[];
  /** Mean over the tokens and the mark of the end. */
  readonly avgLogprob: number;
  /** Probability that nobody speaks; of models that tell. */
  readonly noSpeechProb: number | undefined;
  readonly temperature: number;
  readonly language: string | undefined;
  /** For each token, where it looks: heads × source positions. */
  readonly alignment: readonly Float32Array[];
}

/** A window while it is decoded: what goes before its tokens, and the tokens of the present attempt. */
export class WhisperSequence {
  readonly result: Promise<HeardWindow>;
  private settle!: { resolve(heard: HeardWindow): void; reject(error: unknown): void };
  private readonly random = createRandom(0);
  private attempt = 0;
  private generated: number[] = [];
  private logProbabilities: number[] = [];
  private alignment: Float32Array[] = [];
  private prompt: readonly number[] = [];
  language: string | undefined;
  noSpeechProb: number | undefined;

  constructor(
    readonly task: WindowTask,
    private readonly rules: TokenRules,
    private readonly limits: { end: number; mostTokens: number },
  ) {
    this.language = task.language;
    this.result = new Promise((resolve, reject) => (this.settle = { resolve, reject }));
  }

  /** Positions whose keys and values are kept once the last token has been run. */
  get positions(): number {
    return this.prompt.length + this.generated.length;
  }

  /** Most positions that it will ever have. */
  get mostPositions(): number {
    return this.prompt.length + this.limits.mostTokens;
  }

  get lastToken(): number {
    return this.generated.at(-1)!;
  }

  get temperature(): number {
    return this.task.temperatures[this.attempt] ?? 0;
  }

  /** Begins with what goes before the tokens. */
  begin(prompt: readonly number[]): void {
    this.prompt = prompt;
  }

  /** Takes the next token; true when this was the last one. */
  take(scores: Float32Array): boolean {
    const { random, temperature } = this;
    const { token, logProbability } = this.rules.choose(scores, this.generated, { temperature, random });
    this.logProbabilities.push(logProbability);
    if (token === this.limits.end) return true;
    this.generated.push(token);
    return this.generated.length >= this.limits.mostTokens;
  }

  /** Where the last token looked. */
  look(row: Float32Array): void {
    if (this.task.withAlignment) this.alignment.push(row);
  }

  /** What the present attempt heard. */
  get heard(): HeardWindow {
    const sum = this.logProbabilities.reduce((total, value) => total + value, 0);
    return {
      tokens: this.generated,
      logProbabilities: this.logProbabilities.slice(0, this.generated.length),
      avgLogprob: sum / (this.generated.length + 1),
      noSpeechProb: this.noSpeechProb,
      temperature: this.temperature,
      language: this.language,
      alignment: this.alignment,
    };
  }

  /** Forgets the tokens for the next temperature; false where there is none. */
  retry(): boolean {
    if (this.attempt + 1 >= this.task.temperatures.length) return false;
    this.attempt += 1;
    this.generated = [];
    this.logProbabilities = [];
    this.alignment = [];
    return true;
  }

  finish(): void {
    this.settle.resolve(this.heard);
  }

  fail(error: unknown): void {
    this.settle.reject(error);
  }
}
