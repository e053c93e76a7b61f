import { MegaNestError, invalidField } from '#contracts';
import { z } from 'zod';

/** What the routes answer, for the OpenAPI document: bare JSON values, as the reference has them. */
export const idOrTrue = z.union([z.string(), z.literal(true)]);
export const deletedAnswer = z.boolean();

const chatHistoryEntry = z.object({ id: z.string(), first_query: z.string() });
const chatData = z.looseObject({ user: z.string(), messages: z.unknown() });
export const chatHistoryAnswer = z.union([z.array(chatHistoryEntry), chatData]);
export type ChatHistoryEntry = z.infer<typeof chatHistoryEntry>;

const feedbackAnswerSchema = z.looseObject({ chat_id: z.string().nullable(), chat_data: chatData });
export const feedbackAnswer = z.union([
  z.array(feedbackAnswerSchema.extend({ feedback_id: z.string() })),
  feedbackAnswerSchema,
]);

const promptEntry = z.object({ id: z.string(), user: z.string(), prompt_text: z.string() });
export const promptAnswer = z.union([z.array(promptEntry), z.string()]);

/** Errors: not_found. */
export function found<Value>(value: Value | undefined, what: string, param: string): Value {
  if (value !== undefined) return value;
  throw new MegaNestError('not_found', { what, param });
}

/** Errors: invalid_request where the id is missing. */
export function given(id: string | null | undefined, param: string): string {
  if (id) return id;
  throw invalidField(param, 'is required');
}
