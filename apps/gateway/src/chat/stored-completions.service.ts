import { type GenerationChunk, invalidField, MegaNestError, parseOrThrow } from '#contracts';
import {
  type ChatCompletionRequest,
  collectChatCompletion,
  listOf,
  pageShape,
  wireMessage,
} from '#openai-api';
import { metadataSchema } from '#responses';
import { type JsonObject, type StoredCompletion, StoredCompletionsRepository } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { ChatRun } from './chat-model.js';

const order = z.enum(['asc', 'desc']).default('asc');

/** Query of the list; metadata comes as `metadata[name]=value`. */
export const completionListQuerySchema = z
  .looseObject({ ...pageShape, order, model: z.string().optional() })
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

export const messageListQuerySchema = z.object({ ...pageShape, order });
export type MessageListQuery = z.output<typeof messageListQuerySchema>;

export const updateCompletionSchema = z.object({
  metadata: metadataSchema.nullable().transform((value) => value ?? {}),
});
export type UpdateCompletion = z.output<typeof updateCompletionSchema>;

const keepFieldsSchema = z.object({
  store: z.boolean().nullish(),
  metadata: metadataSchema.nullish(),
});

/** A completion is to be kept with these metadata. */
interface KeepWish {
  metadata: Record<string, string>;
}

/**
 * Takes OpenAI's `store` and `metadata` out of a request. `wish` is absent where the completion is not to be kept: its
 * metadata then have no effect and stay in the request, to be named as ignored. Errors: invalid_request.
 */
export function takeKeepWish(given: ChatCompletionRequest): {
  request: ChatCompletionRequest;
  wish?: KeepWish;
} {
  const { store: storeField, metadata: metadataField, ...extra } = given.extra;
  const { store, metadata } = parseOrThrow(keepFieldsSchema, { store: storeField, metadata: metadataField });
  if (store === true) return { request: { ...given, extra }, wish: { metadata: metadata ?? {} } };
  return { request: { ...given, extra: metadata ? { ...extra, metadata } : extra } };
}

/** Keeps chat completions whose request says `store: true`, and finds them again. */
@Injectable()
export class StoredCompletionsService {
  constructor(
    @Inject(StoredCompletionsRepository) private readonly completions: StoredCompletionsRepository,
  ) {}

  /** The same chat, which is stored before its chunks end; a chat that is not read to its end is not stored. */
  keep(owner: string, request: ChatCompletionRequest, { metadata }: KeepWish, run: ChatRun): ChatRun {
    const store = async (chunks: GenerationChunk[]) => {
      const completion = await collectChatCompletion(toIterable(chunks), run.identity);
      const { id, model } = completion;
      const messages = request.messages.map(wireMessage);
      await this.completions.insert(owner, {
        id,
        model,
        completion: { ...completion },
        messages,
        metadata,
      });
    };
    return { ...run, chunks: passThrough(run.chunks, store) };
  }

  async find(owner: string, id: string): Promise<JsonObject> {
    return toObject((await this.completions.find(owner, id)) ?? unknown(id));
  }

  async update(owner: string, id: string, metadata: Record<string, string>): Promise<JsonObject> {
    return toObject((await this.completions.updateMetadata(owner, id, metadata)) ?? unknown(id));
  }

  async delete(owner: string, id: string): Promise<void> {
    if (!(await this.completions.delete(owner, id))) unknown(id);
  }

  async list(owner: string, query: CompletionListQuery) {
    const { completions, hasMore } = await this.completions.list(owner, query);
    return listOf(completions.map(toObject), hasMore);
  }

  /** The messages that a completion answered. Errors: not_found; invalid_request for an unknown cursor. */
  async messages(owner: string, id: string, { limit, after, order }: MessageListQuery) {
    const { messages } = (await this.completions.find(owner, id)) ?? unknown(id);
    const numbered = messages.map((message, index) => ({ refusal: null, ...message, id: `${id}-${index}` }));
    const ordered = order === 'asc' ? numbered : numbered.toReversed();
    const start = after === undefined ? 0 : ordered.findIndex((message) => message.id === after) + 1;
    if (after !== undefined && start === 0) throw invalidField('after', `${after} is not in this list`);
    return listOf(ordered.slice(start, start + limit), start + limit < ordered.length);
  }
}

function toObject({ completion, metadata }: StoredCompletion): JsonObject {
  return { ...completion, metadata };
}

/** Hands chunks on and gives all of them to `done` before it ends. */
async function* passThrough(
  chunks: AsyncIterable<GenerationChunk>,
  done: (chunks: GenerationChunk[]) => Promise<void>,
): AsyncGenerator<GenerationChunk> {
  const all: GenerationChunk[] = [];
  for await (const chunk of chunks) {
    all.push(chunk);
    yield chunk;
  }
  await done(all);
}

async function* toIterable(chunks: GenerationChunk[]): AsyncGenerator<GenerationChunk> {
  yield* chunks;
}

function unknown(id: string): never {
  throw new MegaNestError('not_found', { what: `The chat completion ${id}`, param: 'completion_id' });
}
