import { invalidField, MegaNestError } from '#platform/contracts';
import type { Model } from '#api/openai-api';
import { z } from 'zod';

/** The query of the list of models. Query strings are text, so that numbers are converted. */
const pageSchema = z.looseObject({
  limit: z.coerce.number().int().min(1).max(1_000).default(20),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
});

/** A model of Anthropic's API. */
export const anthropicModelSchema = z.object({
  type: z.literal('model'),
  id: z.string(),
  display_name: z.string(),
  created_at: z.iso.datetime(),
  max_input_tokens: z.int().optional(),
  max_tokens: z.int().optional(),
});

/** A page of Anthropic's list of models. */
export const anthropicModelPageSchema = z.object({
  data: z.array(anthropicModelSchema),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

/** A model in the form of Anthropic's API. */
export function anthropicModel({
  id,
  created,
  max_model_len: length,
}: Model): z.output<typeof anthropicModelSchema> {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: new Date(created * 1_000).toISOString(),
    ...(typeof length === 'number' && { max_input_tokens: length, max_tokens: length }),
  };
}

/** A page of the list of models in the form of Anthropic's API. Errors: invalid_request for a wrong query. */
export function anthropicModelPage(models: readonly Model[], query: unknown) {
  const parsed = pageSchema.safeParse(query);
  if (!parsed.success) throw invalidField('limit', 'must be a number from 1 to 1000');
  const { limit, after_id: after, before_id: before } = parsed.data;
  const start = after === undefined ? 0 : placeOf(models, after, 'after_id') + 1;
  const end = before === undefined ? models.length : placeOf(models, before, 'before_id');
  const within = models.slice(start, end);
  // Before an id the page is the nearest one.
  const page = before === undefined ? within.slice(0, limit) : within.slice(-limit);
  const data = page.map(anthropicModel);
  return {
    data,
    has_more: within.length > page.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

function placeOf(models: readonly Model[], id: string, param: string): number {
  const place = models.findIndex((model) => model.id === id);
  if (place === -1) throw new MegaNestError('not_found', { what: `The model ${id}`, param });
  return place;
}
