import type { Profile } from '#service-kit';

/** How the profile wants the language model to be asked and its answers to be checked. */
export type LlmSettings = Pick<Profile['llm'], 'parameters' | 'grounding'> &
  Partial<Pick<Profile['llm'], 'writes'>>;

/** Of the local model, or of the remote engine that takes its place. */
export function selectSettings({ llm }: Profile, remote: boolean): LlmSettings {
  return (remote && llm.endpoint) || llm;
}

/** Injection token of the {@link LlmSettings}. */
export const llmSettings = Symbol('llmSettings');
