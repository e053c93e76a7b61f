import { z } from 'zod';
import { inputSchema } from '../items/input-items.js';

const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

/** The body of `POST /v1/responses/compact`. The prompt cache and the tier are what they are here. */
export const compactRequestSchema = z.looseObject({
  model: z.string('is required: the model that the context is compacted for'),
  input: optional(inputSchema),
  previous_response_id: optional(z.string()),
  instructions: optional(z.string()),
  prompt_cache_key: optional(z.string().max(64)),
});
export type CompactRequest = z.infer<typeof compactRequestSchema>;

const served = new Set(Object.keys(compactRequestSchema.shape));

/** Fields of a request that have no effect here. */
export function ignoredCompactFields(request: CompactRequest): string[] {
  return Object.keys(request).filter((name) => !served.has(name) && request[name] !== null);
}
