import { invalidField, MegaNestError } from '#platform/contracts';
import { z } from 'zod';

const user = z.string().trim().min(1, 'must not be empty').max(256);
const id = z.string().min(1).max(128);
const message = z.looseObject({ role: z.string().optional(), content: z.unknown() });
/** A conversation in the form of the caller's application. Its additional fields are stored. */
const chat = z.looseObject({ user, messages: z.union([z.string(), z.array(message).max(10_000)]) });

/** A chat history that is created or, with an id, replaced. */
export const createChatHistorySchema = z.object({
  data: chat,
  id: id.nullish().describe('Replaces the chat history with this id'),
  first_query: z.string().nullish().describe('Title in lists; default: the first message of the user'),
});
export type CreateChatHistory = z.output<typeof createChatHistorySchema>;

/** One chat history or, without an id, all chat histories of a user. */
export const chatHistoryIdSchema = z.object({ user, id: id.nullish() });
export type ChatHistoryId = z.output<typeof chatHistoryIdSchema>;

/** Feedback that is created or, with an id, replaced. */
export const createFeedbackSchema = z.object({
  chat_data: chat,
  feedback_data: z.looseObject({
    comment: z.string().nullish(),
    rating: z.number().min(0).max(5).nullish(),
    is_thumbs_up: z.boolean(),
  }),
  chat_id: id.nullish(),
  feedback_id: id.nullish().describe('Replaces the feedback with this id'),
});
export type CreateFeedback = z.output<typeof createFeedbackSchema>;

/** One feedback or, without an id, all feedback of a user. */
export const feedbackIdSchema = z.object({ user, feedback_id: id.nullish() });
export type FeedbackId = z.output<typeof feedbackIdSchema>;

/** A prompt that is created. */
export const createPromptSchema = z.object({ user, prompt_text: z.string().min(1, 'must not be empty') });
export type CreatePrompt = z.output<typeof createPromptSchema>;

/** One prompt or, without an id, all prompts of a user that pass the filter. */
export const promptIdSchema = z.object({
  user,
  prompt_id: id.nullish(),
  prompt_text: z.string().nullish().describe('Filters the list by a text in the prompts, regardless of case'),
  keyword: z.string().nullish().describe('Alias of prompt_text'),
});
export type PromptId = z.output<typeof promptIdSchema>;

/** Answer of a route that creates or replaces: the new id, or true. Bare JSON values, as in the OPEA reference. */
export const idOrTrue = z.union([z.string(), z.literal(true)]);
/** Answer of a route that deletes: false if the record does not exist. */
export const deletedAnswer = z.boolean();

const chatHistoryEntry = z.object({ id: z.string(), first_query: z.string() });
const chatData = z.looseObject({ user: z.string(), messages: z.unknown() });
/** A list of chat histories, or one of them. */
export const chatHistoryAnswer = z.union([z.array(chatHistoryEntry), chatData]);
export type ChatHistoryEntry = z.infer<typeof chatHistoryEntry>;

const feedbackAnswerSchema = z.looseObject({ chat_id: z.string().nullable(), chat_data: chatData });
/** A list of feedback, or one feedback. */
export const feedbackAnswer = z.union([
  z.array(feedbackAnswerSchema.extend({ feedback_id: z.string() })),
  feedbackAnswerSchema,
]);

const promptEntry = z.object({ id: z.string(), user: z.string(), prompt_text: z.string() });
/** A list of prompts, or the text of one prompt. */
export const promptAnswer = z.union([z.array(promptEntry), z.string()]);

/** Returns the value. Errors: not_found if it is undefined. */
export function found<Value>(value: Value | undefined, what: string, param: string): Value {
  if (value !== undefined) return value;
  throw new MegaNestError('not_found', { what, param });
}

/** Returns the id. Errors: invalid_request if it is missing. */
export function given(id: string | null | undefined, param: string): string {
  if (id) return id;
  throw invalidField(param, 'is required');
}
