import type { GenerationParameters, TokenLogprob } from '#contracts';
import type { SamplingDefaults } from '../model/model-config.js';
import type { TokenVocabulary } from '../tokenizer/token-vocabulary.js';
import { adjustLogits, adjustsLogits } from './adjust-logits.js';
import { chooseToken, leadOfLikeliest } from './choose-token.js';
import { createRandom, type RandomSource } from './random.js';
import { samplingSettings, type SamplingSettings } from './sampling-settings.js';
import { tokenLogprob } from './token-logprobs.js';

export interface SampledToken {
  readonly id: number;
  readonly logprob?: TokenLogprob;
}

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

  /** @param logits `[vocabulary]`; left as they are. */
  sample(logits: Float32Array): SampledToken {
    const id = chooseToken(this.adjusted(logits), this.settings, this.random);
    this.generated.set(id, (this.generated.get(id) ?? 0) + 1);
    if (!this.parameters.logprobs) return { id };
    return { id, logprob: tokenLogprob(logits, id, this.parameters.top_logprobs ?? 0, this.vocabulary) };
  }

  /** False where greedy choice hangs on less than `margin` between the two likeliest tokens. */
  isClear(logits: Float32Array, margin: number): boolean {
    return this.settings.temperature > 0 || leadOfLikeliest(this.adjusted(logits)) >= margin;
  }

  private adjusted(logits: Float32Array): Float32Array {
    if (!adjustsLogits(this.settings)) return logits;
    const copy = logits.slice();
    adjustLogits(copy, this.settings, { generated: this.generated, prompt: this.prompt });
    return copy;
  }
}
