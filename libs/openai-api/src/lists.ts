import { z } from 'zod';

/** Query of a list: 1 to 100 objects, 20 by default, those that follow the one with the id `after`. */
export const pageShape = {
  limit: z.coerce.number().int().min(1).max(100).default(20),
  after: z.string().optional(),
};

/** What {@link listOf} gives, for the OpenAPI document. */
export function listSchemaOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    object: z.literal('list'),
    data: z.array(item),
    first_id: z.string(),
    last_id: z.string(),
    has_more: z.boolean(),
  });
}

/** A list as OpenAI pages it; the ids of an empty one are empty. */
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
