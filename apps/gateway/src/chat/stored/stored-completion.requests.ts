import { metadataSchema } from '#responses';
import { z } from 'zod';

const page = { limit: z.coerce.number().int().min(1).max(100).default(20), after: z.string().optional() };
const order = z.enum(['asc', 'desc']).default('asc');

/** Query of the list; metadata comes as `metadata[name]=value`. */
export const completionListQuerySchema = z
  .looseObject({ ...page, order, model: z.string().optional() })
  .transform(({ limit, after, order: direction, model, ...rest }) => ({
    limit,
    after,
    order: direction,
    model,
    metadata: Object.fromEntries(
      Object.entries(rest).flatMap(([name, value]) => {
        const key = /^metadata\[(.+)\]$/.exec(name)?.[1];
        return key === undefined ? [] : [[key, String(value)]];
      }),
    ) as Record<string, string>,
  }));
export type CompletionListQuery = z.output<typeof completionListQuerySchema>;

export const messageListQuerySchema = z.object({ ...page, order });
export type MessageListQuery = z.output<typeof messageListQuerySchema>;

export const updateCompletionSchema = z.object({
  metadata: metadataSchema.nullable().transform((value) => value ?? {}),
});
export type UpdateCompletion = z.output<typeof updateCompletionSchema>;

/** The fields of a chat request that concern its keeping. */
export const keepFieldsSchema = z.object({
  store: z.boolean().nullish(),
  metadata: metadataSchema.nullish(),
});
