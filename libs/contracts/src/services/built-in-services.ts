/** The services that every stack runs beside the gateway. */
export const builtInServices = [
  'embedding',
  'retrieval',
  'reranking',
  'llm',
  'dataprep',
  'guardrail',
  'asr',
  'tts',
] as const;

/** The name of a service that every stack runs. */
export type BuiltInService = (typeof builtInServices)[number];
