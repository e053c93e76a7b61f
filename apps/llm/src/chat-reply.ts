import type { GenerationChunk } from '#contracts';
import {
  chatCompletionChunks,
  collectChatCompletion,
  dataFrames,
  errorFrame,
  type CompletionIdentity,
} from '#openai-api';
import { sendEventStream } from '#service-kit';
import type { FastifyReply } from 'fastify';

/** Writes an answer as one `chat.completion`. */
export async function sendChatCompletion(
  reply: FastifyReply,
  chunks: AsyncIterable<GenerationChunk>,
  identity: CompletionIdentity,
): Promise<void> {
  await reply.status(200).send(await collectChatCompletion(chunks, identity));
}

/** Writes an answer as server-sent `chat.completion.chunk` events, ended by `[DONE]`. */
export async function sendChatStream(
  reply: FastifyReply,
  chunks: AsyncIterable<GenerationChunk>,
  identity: CompletionIdentity,
  includeUsage: boolean,
): Promise<void> {
  const frames = dataFrames(chatCompletionChunks(chunks, identity, includeUsage));
  await sendEventStream(reply, frames, errorFrame);
}
