import type { Profile } from '#service-kit';
import type { LlmEnvironment } from './llm.environment.js';

/** How the profile wants the language model to be asked and its answers to be checked. */
export type LlmSettings = Pick<Profile['llm'], 'parameters' | 'grounding'> &
  Partial<Pick<Profile['llm'], 'writes'>> & {
    /** Whether the model calls tools; where absent its chat template tells. */
    readonly callsTools?: boolean;
  };

/** Of the profile's own model, or of the engine or the model that the user names in its place. */
export function selectSettings(
  { llm }: Profile,
  environment: Pick<LlmEnvironment, 'LLM_ENDPOINT' | 'LLM_MODEL_ID' | 'LLM_TOOLS'>,
): LlmSettings {
  const replaced =
    environment.LLM_ENDPOINT !== undefined || (environment.LLM_MODEL_ID ?? llm.model) !== llm.model;
  const settings = (replaced && llm.endpoint) || llm;
  const { LLM_TOOLS: tools } = environment;
  return tools === 'auto' ? settings : { ...settings, callsTools: tools === 'true' };
}

/** Injection token of the {@link LlmSettings}. */
export const llmSettings = Symbol('llmSettings');
