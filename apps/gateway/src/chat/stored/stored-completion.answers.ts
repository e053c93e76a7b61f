import { chatCompletionSchema } from '#openai-api';
import { metadataSchema } from '#responses';
import { z } from 'zod';

/** A completion as it is kept. */
export const storedCompletionAnswer = chatCompletionSchema.extend({ metadata: metadataSchema });

const listOf = (item: z.ZodType) =>
  z.object({
    object: z.literal('list'),
    data: z.array(item),
    first_id: z.string(),
    last_id: z.string(),
    has_more: z.boolean(),
  });

export const completionListAnswer = listOf(storedCompletionAnswer);
export const messageListAnswer = listOf(z.looseObject({ id: z.string(), role: z.string() }));
export const deletedCompletionAnswer = z.object({
  id: z.string(),
  object: z.literal('chat.completion.deleted'),
  deleted: z.boolean(),
});
