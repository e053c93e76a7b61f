import type { generate, ParsedRequestOf } from '#contracts';

/** A validated request of `llm.generate`. */
export type GenerateRequest = ParsedRequestOf<typeof generate>;
