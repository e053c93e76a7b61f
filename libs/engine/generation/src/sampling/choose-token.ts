import type { GenerationParameters } from '#platform/contracts';
import type { SamplingDefaults, RandomSource } from '#engine/models';
import { Candidates } from './candidates.js';

/** All sampling parameters with their values; a parameter that is off has its neutral value. */
export interface SamplingSettings {
  /** 0: greedy decoding. */
  readonly temperature: number;
  readonly topP: number;
  /** 0: no limit. */
  readonly topK: number;
  readonly minP: number;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
  readonly repetitionPenalty: number;
  readonly logitBias: ReadonlyMap<number, number>;
}

/** Combines the request's parameters with the model's defaults. */
export function samplingSettings(
  parameters: GenerationParameters,
  defaults: SamplingDefaults,
): SamplingSettings {
  const bias = Object.entries(parameters.logit_bias ?? {});
  return {
    temperature: parameters.temperature ?? defaults.temperature,
    topP: parameters.top_p ?? defaults.top_p ?? 1,
    topK: parameters.top_k ?? defaults.top_k ?? 0,
    minP: parameters.min_p ?? defaults.min_p ?? 0,
    frequencyPenalty: parameters.frequency_penalty ?? 0,
    presencePenalty: parameters.presence_penalty ?? 0,
    repetitionPenalty: parameters.repetition_penalty ?? defaults.repetition_penalty ?? 1,
    logitBias: new Map(bias.map(([id, value]) => [Number(id), value])),
  };
}

/** Counts of the generated tokens, and the set of prompt tokens. */
export interface TokenHistory {
  readonly generated: ReadonlyMap<number, number>;
  readonly prompt: ReadonlySet<number>;
}

/**
 * Applies logit bias and penalties in place. The repetition penalty counts prompt and completion; frequency and
 * presence penalties count the completion only, as OpenAI and vLLM define them.
 */
export function adjustLogits(logits: Float32Array, settings: SamplingSettings, history: TokenHistory): void {
  for (const [id, bias] of settings.logitBias) logits[id]! += bias;
  const { repetitionPenalty, frequencyPenalty, presencePenalty } = settings;
  if (repetitionPenalty !== 1) {
    const penalize = (id: number) => {
      const logit = logits[id]!;
      logits[id] = logit > 0 ? logit / repetitionPenalty : logit * repetitionPenalty;
    };
    for (const id of history.prompt) penalize(id);
    for (const id of history.generated.keys()) if (!history.prompt.has(id)) penalize(id);
  }
  if (frequencyPenalty === 0 && presencePenalty === 0) return;
  for (const [id, times] of history.generated) logits[id]! -= frequencyPenalty * times + presencePenalty;
}

/** True if {@link adjustLogits} would change a logit. */
export function adjustsLogits(settings: SamplingSettings): boolean {
  return (
    settings.logitBias.size > 0 ||
    settings.repetitionPenalty !== 1 ||
    settings.frequencyPenalty !== 0 ||
    settings.presencePenalty !== 0
  );
}

/** A weight below this share of the highest can never be drawn. */
const negligible = 1e-16;

/** Used again for each token. */
const candidates = new Candidates();

/** Returns the token with the highest logit; the first of equals. */
export function likeliestToken(logits: Float32Array): number {
  let best = 0;
  let largest = logits[0]!;
  for (let id = 1; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit > largest) {
      best = id;
      largest = logit;
    }
  }
  return best;
}

/** Returns the difference between the two highest logits. */
export function leadOfLikeliest(logits: Float32Array): number {
  let first = -Infinity;
  let second = -Infinity;
  // An indexed loop is several times as fast as an iterator here.
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit > first) {
      second = first;
      first = logit;
    } else if (logit > second) second = logit;
  }
  return first - second;
}

/**
 * Samples a token: temperature, then min_p, top_k, and top_p among the remaining tokens. Consumes exactly one
 * random number, even if only one candidate remains, so that a seed means the same with every setting. Temperature
 * 0 consumes no random number.
 */
export function chooseToken(logits: Float32Array, settings: SamplingSettings, random: RandomSource): number {
  if (settings.temperature === 0) return likeliestToken(logits);
  const { temperature, minP, topK, topP } = settings;
  const largest = logits[likeliestToken(logits)]!;
  const lowest = Math.max(minP, negligible);
  candidates.fill(logits, { largest, temperature, lowest, limit: topK > 0 ? topK : Infinity });
  if (topP < 1) candidates.keepShare(topP);
  return candidates.draw(random);
}
