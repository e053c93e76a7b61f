import type { GenerationParameters, TokenLogprob } from '#contracts';
import { createRandom, type RandomSource } from '#models';
import type { SamplingDefaults, TokenVocabulary } from '#models';
import { adjustLogits, adjustsLogits } from './adjust-logits.js';
import { chooseToken, leadOfLikeliest } from './choose-token.js';
import { samplingSettings, type SamplingSettings } from './sampling-settings.js';
import { logLikelihood, tokenLogprob } from './token-logprobs.js';

export interface SampledToken {
  readonly id: number;
  readonly logprob?: TokenLogprob;
  /** Natural logarithm of its probability, where answers are compared. */
  readonly logLikelihood?: number;
}

/** Sets the logits of tokens that may not be drawn to −Infinity, in place. */
export type Restriction = (logits: Float32Array) => void;

/** Draws the tokens of one answer; remembers them for the penalties. */
export class Sampler {
  private readonly settings: SamplingSettings;
  private readonly random: RandomSource;
  private readonly generated = new Map<number, number>();

  /** @param choice Number of the answer: with a seed, each answer has its own stream of random numbers. */
  constructor(
    private readonly parameters: GenerationParameters,
    defaults: SamplingDefaults,
    private readonly prompt: ReadonlySet<number>,
    private readonly vocabulary: TokenVocabulary,
    choice: number,
  ) {
    this.settings = samplingSettings(parameters, defaults);
    this.random = createRandom(parameters.seed, choice);
  }

  /**
   * @param logits `[vocabulary]`; left as they are.
   * @param restrict Takes the tokens that may not follow out of a copy, behind bias and penalties.
   */
  sample(logits: Float32Array, restrict?: Restriction): SampledToken {
    const id = chooseToken(this.adjusted(logits, restrict), this.settings, this.random);
    this.remember(id);
    const { logprobs, top_logprobs: alternatives = 0, n = 1, best_of: bestOf = n } = this.parameters;
    return {
      id,
      ...(logprobs && { logprob: tokenLogprob(logits, id, alternatives, this.vocabulary) }),
      ...(bestOf > n && { logLikelihood: logLikelihood(logits, id) }),
    };
  }

  /** Takes a token that was no choice; random numbers and penalties go on as if it had been drawn. */
  take(id: number): SampledToken {
    if (this.settings.temperature > 0) this.random();
    this.remember(id);
    return { id };
  }

  /** False where greedy choice hangs on less than `margin` between the two likeliest tokens. */
  isClear(logits: Float32Array, margin: number, restrict?: Restriction): boolean {
    return this.settings.temperature > 0 || leadOfLikeliest(this.adjusted(logits, restrict)) >= margin;
  }

  private remember(id: number): void {
    this.generated.set(id, (this.generated.get(id) ?? 0) + 1);
  }

  private adjusted(logits: Float32Array, restrict?: Restriction): Float32Array {
    if (!restrict && !adjustsLogits(this.settings)) return logits;
    const copy = logits.slice();
    adjustLogits(copy, this.settings, { generated: this.generated, prompt: this.prompt });
    restrict?.(copy);
    return copy;
  }
}
