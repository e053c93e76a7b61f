import type { TokenLogprob, GenerationParameters } from '#platform/contracts';
import { type TokenVocabulary, createRandom, type RandomSource, type SamplingDefaults } from '#engine/models';
import {
  adjustLogits,
  adjustsLogits,
  chooseToken,
  leadOfLikeliest,
  likeliestToken,
  samplingSettings,
  type SamplingSettings,
} from './choose-token.js';

/**
 * Returns the log probability of a token, and of the most likely `alternatives`, before any sampling parameter, as
 * OpenAI reports them. `logits`: `[vocabularySize]`.
 */
function tokenLogprob(
  logits: Float32Array,
  chosen: number,
  alternatives: number,
  vocabulary: TokenVocabulary,
): TokenLogprob {
  const logSum = logSumExp(logits);
  const describe = (id: number) => ({
    token: vocabulary.textOf(id),
    logprob: logits[id]! - logSum,
    bytes: [...vocabulary.bytesOf(id)],
  });
  return { ...describe(chosen), top_logprobs: topTokens(logits, alternatives).map(describe) };
}

/** Returns the log probability of one token. */
function logLikelihood(logits: Float32Array, id: number): number {
  return logits[id]! - logSumExp(logits);
}

function logSumExp(logits: Float32Array): number {
  const max = logits[likeliestToken(logits)]!;
  let sum = 0;
  for (let id = 0; id < logits.length; id++) sum += Math.exp(logits[id]! - max);
  return max + Math.log(sum);
}

/** Returns the ids of the `count` highest logits, best first. */
function topTokens(logits: Float32Array, count: number): number[] {
  if (count === 0) return [];
  const best: number[] = [];
  for (let id = 0; id < logits.length; id++) {
    if (best.length === count && logits[id]! <= logits[best.at(-1)!]!) continue;
    const at = best.findIndex((other) => logits[other]! < logits[id]!);
    best.splice(at < 0 ? best.length : at, 0, id);
    if (best.length > count) best.pop();
  }
  return best;
}

/** A sampled token. */
export interface SampledToken {
  readonly id: number;
  readonly logprob?: TokenLogprob;
  /** Log probability; computed for `best_of`. */
  readonly logLikelihood?: number;
}

/** Used again for each token, since the logits of a large vocabulary take a megabyte. */
let scratch = new Float32Array(0);

/** Returns a copy that is valid until the next one. */
function copyOf(logits: Float32Array): Float32Array {
  if (scratch.length !== logits.length) scratch = new Float32Array(logits.length);
  scratch.set(logits);
  return scratch;
}

/** Sets the logits of forbidden tokens to −Infinity, in place. */
export type Restriction = (logits: Float32Array) => void;

/** Samples the tokens of one completion, and counts them for the penalties. */
export class Sampler {
  private readonly settings: SamplingSettings;
  private readonly random: RandomSource;
  private readonly generated = new Map<number, number>();

  /** @param choice Index of the completion: with a seed, each completion has its own stream of random numbers. */
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
   * Samples the next token.
   * @param logits `[vocabularySize]`; not modified.
   * @param restrict Forbids tokens, on a copy of the logits, after bias and penalties.
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

  /** Takes a forced token; random numbers and penalties advance as if it had been sampled. */
  take(id: number): SampledToken {
    if (this.settings.temperature > 0) this.random();
    this.remember(id);
    return { id };
  }

  /** False if greedy decoding depends on a difference below `margin` between the two highest logits. */
  isClear(logits: Float32Array, margin: number, restrict?: Restriction): boolean {
    return this.settings.temperature > 0 || leadOfLikeliest(this.adjusted(logits, restrict)) >= margin;
  }

  private remember(id: number): void {
    this.generated.set(id, (this.generated.get(id) ?? 0) + 1);
  }

  private adjusted(logits: Float32Array, restrict?: Restriction): Float32Array {
    if (!restrict && !adjustsLogits(this.settings)) return logits;
    const copy = copyOf(logits);
    adjustLogits(copy, this.settings, { generated: this.generated, prompt: this.prompt });
    restrict?.(copy);
    return copy;
  }
}
