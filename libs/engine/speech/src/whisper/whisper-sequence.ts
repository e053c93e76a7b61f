import { createRandom } from '#engine/models';
import type { TokenRules } from './token-rules.js';

/** A window of audio to transcribe. */
export interface WindowTask {
  /** Samples of a window, or fewer. */
  readonly samples: Float32Array;
  /** Tokens of the preceding text, or of names and spellings. */
  readonly previous: readonly number[];
  /** Language code; without it the model detects the language. */
  readonly language?: string;
  readonly task: 'transcribe' | 'translate';
  /** Temperature fallback: tried in this order until the text is good enough. */
  readonly temperatures: readonly number[];
  readonly timestamps: boolean;
  /** Return alignments, for word times. */
  readonly withAlignment: boolean;
  readonly signal: AbortSignal;
}

/** The transcript of a window. */
export interface WindowTranscript {
  /** Text and timestamp tokens, without the end token. */
  readonly tokens: readonly number[];
  readonly logProbabilities: readonly number[];
  /** Mean over the tokens including the end token. */
  readonly avgLogprob: number;
  /** Probability of silence; undefined for models that do not report it. */
  readonly noSpeechProb: number | undefined;
  readonly temperature: number;
  readonly language: string | undefined;
  /** Per token its cross-attention: heads × source positions. */
  readonly alignment: readonly Float32Array[];
}

/** A window in decoding: its prompt, and the tokens of the current attempt. */
export class WhisperSequence {
  readonly result: Promise<WindowTranscript>;
  private settle!: { resolve(transcript: WindowTranscript): void; reject(error: unknown): void };
  private readonly random = createRandom(0);
  private attempt = 0;
  /** Earlier attempts, which were poor. */
  private readonly earlier: { repeats: boolean; transcript: WindowTranscript }[] = [];
  private generated: number[] = [];
  private logProbabilities: number[] = [];
  private alignment: Float32Array[] = [];
  private prompt: readonly number[] = [];
  language: string | undefined;
  noSpeechProb: number | undefined;

  constructor(
    readonly task: WindowTask,
    private readonly rules: TokenRules,
    private readonly limits: { end: number; maxTokens: number },
  ) {
    this.language = task.language;
    this.result = new Promise((resolve, reject) => (this.settle = { resolve, reject }));
  }

  /** Positions in the KV cache after the last token has run. */
  get positions(): number {
    return this.prompt.length + this.generated.length;
  }

  /** Maximum positions of the sequence. */
  get maxPositions(): number {
    return this.prompt.length + this.limits.maxTokens;
  }

  get lastToken(): number {
    return this.generated.at(-1)!;
  }

  get temperature(): number {
    return this.task.temperatures[this.attempt] ?? 0;
  }

  /** Begins with the prompt. */
  begin(prompt: readonly number[]): void {
    this.prompt = prompt;
  }

  /** Samples the next token. Returns true if it was the last one. */
  take(scores: Float32Array): boolean {
    const { random, temperature } = this;
    const { token, logProbability } = this.rules.choose(scores, this.generated, { temperature, random });
    this.logProbabilities.push(logProbability);
    if (token === this.limits.end) return true;
    this.generated.push(token);
    return this.generated.length >= this.limits.maxTokens;
  }

  /** Adds the cross-attention of the last token. */
  look(row: Float32Array): void {
    if (this.task.withAlignment) this.alignment.push(row);
  }

  /** Transcript of the current attempt. */
  get transcript(): WindowTranscript {
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

  /** Keeps the tokens aside and begins again with the next temperature; false if there is not another one. */
  retry({ repeats }: { repeats: boolean }): boolean {
    if (this.attempt + 1 >= this.task.temperatures.length) return false;
    this.earlier.push({ repeats, transcript: this.transcript });
    this.attempt += 1;
    this.generated = [];
    this.logProbabilities = [];
    this.alignment = [];
    return true;
  }

  /** Ends with this attempt; where it is poor as the earlier ones, with the most probable of those that repeat least. */
  finish({ isPoor, repeats }: { isPoor: boolean; repeats: boolean }): void {
    const last = { repeats, transcript: this.transcript };
    if (!isPoor) return this.settle.resolve(last.transcript);
    const all = [...this.earlier, last];
    const fluent = all.filter((attempt) => !attempt.repeats);
    const [best = last] = (fluent.length > 0 ? fluent : all).toSorted(
      (a, b) => b.transcript.avgLogprob - a.transcript.avgLogprob,
    );
    this.settle.resolve(best.transcript);
  }

  fail(error: unknown): void {
    this.settle.reject(error);
  }
}
