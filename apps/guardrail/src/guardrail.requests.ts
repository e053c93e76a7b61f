import { z } from 'zod';

/**
 * The reference's body of `/v1/guardrails`: a text, or what a model answered (`text`) to what it was asked (`prompt`).
 * `parameters` set the sampling of the reference's own model and mean nothing to rules.
 */
export const guardrailRequestSchema = z
  .object({
    text: z.string().min(1, 'must not be empty'),
    prompt: z.string().optional(),
    side: z.enum(['input', 'output']).optional(),
    id: z.string().optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
  })
  .transform(({ side, prompt, ...rest }) => ({
    ...rest,
    side: side ?? (prompt === undefined ? ('input' as const) : ('output' as const)),
  }));
export type GuardrailRequest = z.output<typeof guardrailRequestSchema>;
