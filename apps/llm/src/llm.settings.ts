import type { Profile } from '#service-kit';

/** What the profile says about its language model. */
export type LlmSettings = Profile['llm'];

/** Injection token of the {@link LlmSettings}. */
export const llmSettings = Symbol('llmSettings');
