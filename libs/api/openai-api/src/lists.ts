import { z } from 'zod';

/** Query of a list: 1 to 100 objects after the object with the id `after`; 20 by default. */
export const pageShape = {
  limit: z.coerce.number().int().min(1).max(100).default(20),
  after: z.string().optional(),
};

/** The schema of {@link listOf}, for the OpenAPI document. */
export function listSchemaOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    object: z.literal('list'),
    data: z.array(item),
    first_id: z.string(),
    last_id: z.string(),
    has_more: z.boolean(),
  });
}

/** A page of a list in OpenAI's format; the ids of an empty page are empty. */
export function listOf<Item extends { id?: unknown }>(data: Item[], hasMore: boolean) {
  return {
    object: 'list' as const,
    data,
    first_id: idOf(data[0]),
    last_id: idOf(data.at(-1)),
    has_more: hasMore,
  };
}

function idOf(item: { id?: unknown } | undefined): string {
  return typeof item?.id === 'string' ? item.id : '';
}
