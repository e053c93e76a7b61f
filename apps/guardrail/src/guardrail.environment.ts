import { baseEnvironmentSchema, portSchema } from '#platform/service-kit';
import { z } from 'zod';

export const guardrailEnvironmentSchema = baseEnvironmentSchema.extend({
  GUARDRAIL_PORT: portSchema.default(9090),
  /** The file of the rules; relative to the project. */
  GUARDRAIL_RULES: z.string().default('guardrails/default.yaml'),
  /** A classifier in addition to the rules: a bundled name, a local directory or a hub id; default: no classifier. */
  GUARDRAIL_MODEL_ID: z.string().optional(),
  /** A Text Embeddings Inference server with a classifier, to use in place of a local model. */
  TEI_GUARDRAIL_ENDPOINT: z.url().optional(),
  /** Sent to that server as a bearer token. */
  TEI_API_KEY: z.string().optional(),
});
export type GuardrailEnvironment = z.infer<typeof guardrailEnvironmentSchema>;
