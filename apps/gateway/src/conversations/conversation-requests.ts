import { inputItemSchema, metadataSchema } from '#responses';
import { z } from 'zod';

/** More than OpenAI's 20: the Agents SDK's sessions send more at once. */
const mostItems = 1_000;
const items = z.array(inputItemSchema).max(mostItems);

export const createConversationSchema = z.object({
  items: items.nullish().transform((value) => value ?? []),
  metadata: metadataSchema.nullish().transform((value) => value ?? {}),
});
export type CreateConversation = z.output<typeof createConversationSchema>;

/** Metadata is merged: a value of null removes its entry. */
export const updateConversationSchema = z.object({
  metadata: z
    .record(z.string().max(64), z.string().max(512).nullable())
    .nullable()
    .transform((value) => value ?? {}),
});
export type UpdateConversation = z.output<typeof updateConversationSchema>;

export const createItemsSchema = z.object({ items });
export type CreateItems = z.output<typeof createItemsSchema>;

/** Latest first: the API of OpenAI has no such list, its lists look like this. */
export const listConversationsSchema = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  after: z.string().optional(),
});
export type ListConversations = z.output<typeof listConversationsSchema>;
