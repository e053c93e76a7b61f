import { baseEnvironmentSchema, portSchema } from '#service-kit';
import { z } from 'zod';

export const guardrailEnvironmentSchema = baseEnvironmentSchema.extend({
  GUARDRAIL_PORT: portSchema.default(9090),
  /** The file of the rules; relative to the project. */
  GUARDRAIL_RULES: z.string().default('guardrails/default.yaml'),
});
export type GuardrailEnvironment = z.infer<typeof guardrailEnvironmentSchema>;
