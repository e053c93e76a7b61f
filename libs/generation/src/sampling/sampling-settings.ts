import type { GenerationParameters } from '#contracts';
import type { SamplingDefaults } from '#models';

/** Every knob with a value; those that are off have the value that changes nothing. */
export interface SamplingSettings {
  /** 0: the likeliest token. */
  readonly temperature: number;
  readonly topP: number;
  /** 0: all tokens. */
  readonly topK: number;
  readonly minP: number;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
  readonly repetitionPenalty: number;
  readonly logitBias: ReadonlyMap<number, number>;
}

/** The caller's parameters over the model's own defaults. */
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
