import { parseOrThrow, type RetrievedDocument } from '#contracts';
import { chatCompletionRequestSchema, type ChatCompletionRequest } from '#openai-api';
import { z } from 'zod';

const passage = z.union(
  [
    z.string().transform((text) => ({ text })),
    z.looseObject({
      text: z.string(),
      id: z.string().optional(),
      score: z.number().optional(),
      metadata: z.record(z.string(), z.unknown()).optional(),
    }),
  ],
  'must be a string or an object with a text',
);
const passages = z
  .array(passage)
  .max(1000)
  .transform((documents) => documents.map(toDocument));

const notEmpty = z.string().min(1, 'must not be empty');

/** The names that OPEA's specification and reference implementation use beside OpenAI's. */
const opeaFieldsSchema = z.looseObject({
  query: notEmpty.optional(),
  initial_query: notEmpty.optional(),
  documents: passages.nullish(),
  retrieved_docs: passages.nullish(),
  max_new_tokens: z.int().min(1).nullish(),
  streaming: z.boolean().nullish(),
  chat_template: notEmpty.nullish(),
});

export interface LlmRequest {
  chat: ChatCompletionRequest;
  documents?: RetrievedDocument[];
  chatTemplate?: string;
}

/**
 * The body of the service's `/v1/chat/completions` in all its dialects: OpenAI's `messages` (or `message`, or a string),
 * `{query, documents, max_new_tokens, streaming}`, `{initial_query, retrieved_docs}`. Errors: 400 with the field's path.
 */
export const llmRequestSchema = opeaFieldsSchema.transform((body): LlmRequest => {
  const { documents, retrieved_docs, chat_template, ...rest } = body;
  return {
    chat: parseOrThrow(chatCompletionRequestSchema, inOpenAiNames(rest)),
    documents: documents ?? retrieved_docs ?? undefined,
    chatTemplate: chat_template ?? undefined,
  };
});

type OpeaFields = Omit<z.output<typeof opeaFieldsSchema>, 'documents' | 'retrieved_docs' | 'chat_template'>;

/** OpenAI's own field wins over an older name; one that is not needed stays, to be named as ignored. */
function inOpenAiNames(body: OpeaFields): Record<string, unknown> {
  const renamed: Record<string, unknown> = { ...body };
  rename(renamed, 'max_new_tokens', 'max_tokens');
  rename(renamed, 'streaming', 'stream');
  if (renamed['message'] === undefined) {
    rename(renamed, 'query', 'messages');
    rename(renamed, 'initial_query', 'messages');
  }
  return renamed;
}

function rename(body: Record<string, unknown>, from: string, to: string): void {
  if (body[from] === undefined || body[from] === null || (body[to] ?? undefined) !== undefined) return;
  body[to] = body[from];
  delete body[from];
}

function toDocument(given: z.output<typeof passage>, index: number): RetrievedDocument {
  const document: Partial<RetrievedDocument> & { text: string } = given;
  const { text, id = `passage-${index + 1}`, score = 0, metadata = {} } = document;
  return { id, text, score, metadata };
}
