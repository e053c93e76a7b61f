import { type GenerationChunk, invalidField, MegaNestError, parseOrThrow } from '#platform/contracts';
import {
  chatCompletionSchema,
  collectChatCompletion,
  listOf,
  listSchemaOf,
  pageShape,
  wireMessage,
  type ChatCompletionRequest,
} from '#api/openai-api';
import { metadataSchema } from '#api/responses';
import { ApiOperation, Owner, SchemaPipe } from '#platform/service-kit';
import { type JsonObject, type StoredCompletion, StoredCompletionsRepository } from '#platform/storage';
import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Injectable,
  Param,
  Post,
  Query,
} from '@nestjs/common';
import { z } from 'zod';
import type { ChatRun } from './chat-model.js';

const order = z.enum(['asc', 'desc']).default('asc');

/** Query of the list. Metadata has the form `metadata[name]=value`. */
const completionListQuerySchema = z
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
type CompletionListQuery = z.output<typeof completionListQuerySchema>;

const messageListQuerySchema = z.object({ ...pageShape, order });
type MessageListQuery = z.output<typeof messageListQuerySchema>;

const updateCompletionSchema = z.object({
  metadata: metadataSchema.nullable().transform((value) => value ?? {}),
});
type UpdateCompletion = z.output<typeof updateCompletionSchema>;

const keepFieldsSchema = z.object({
  store: z.boolean().nullish(),
  metadata: metadataSchema.nullish(),
});

/** The metadata for a completion that is stored. */
interface KeepWish {
  metadata: Record<string, string>;
}

/**
 * Takes OpenAI's `store` and `metadata` out of a request. `wish` is absent if the completion is not stored. Metadata
 * then has no effect and stays in the request, so that it is listed as ignored. Errors: invalid_request.
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

/** Stores chat completions if the request has `store: true`. */
@Injectable()
export class StoredCompletionsService {
  constructor(
    @Inject(StoredCompletionsRepository) private readonly completions: StoredCompletionsRepository,
  ) {}

  /** Returns the chat with chunks that store it before they end. A chat is not stored unless it is read to its end. */
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
}

function toObject({ completion, metadata }: StoredCompletion): JsonObject {
  return { ...completion, metadata };
}

/** Yields the chunks, and passes all of them to `done` before the end. */
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

/** A stored completion. */
const storedCompletionAnswer = chatCompletionSchema.extend({ metadata: metadataSchema });

const messageAnswer = z.looseObject({ id: z.string(), role: z.string() });
const deletedCompletionAnswer = z.object({
  id: z.string(),
  object: z.literal('chat.completion.deleted'),
  deleted: z.boolean(),
});

/** The stored chat completions of an owner. Completions of other owners are `not_found`. */
@Controller(['v1/chat/completions', 'chat/completions'])
export class StoredCompletionsController {
  constructor(
    @Inject(StoredCompletionsRepository) private readonly completions: StoredCompletionsRepository,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'List the stored completions',
    answer: listSchemaOf(storedCompletionAnswer),
  })
  async list(
    @Query(new SchemaPipe(completionListQuerySchema)) query: CompletionListQuery,
    @Owner() owner: string,
  ) {
    const { completions, hasMore } = await this.completions.list(owner, query);
    return listOf(completions.map(toObject), hasMore);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Get a stored completion', answer: storedCompletionAnswer })
  async find(@Param('id') id: string, @Owner() owner: string) {
    return toObject((await this.completions.find(owner, id)) ?? unknown(id));
  }

  @Post(':id')
  @ApiOperation({ summary: 'Replace the metadata of a stored completion', answer: storedCompletionAnswer })
  @HttpCode(200)
  async update(
    @Param('id') id: string,
    @Body(new SchemaPipe(updateCompletionSchema)) { metadata }: UpdateCompletion,
    @Owner() owner: string,
  ) {
    return toObject((await this.completions.updateMetadata(owner, id, metadata)) ?? unknown(id));
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Delete a stored completion', answer: deletedCompletionAnswer })
  async delete(@Param('id') id: string, @Owner() owner: string) {
    if (!(await this.completions.delete(owner, id))) unknown(id);
    return { id, object: 'chat.completion.deleted' as const, deleted: true };
  }

  /** Errors: not_found; invalid_request for an unknown cursor. */
  @Get(':id/messages')
  @ApiOperation({ summary: 'List the messages of the request', answer: listSchemaOf(messageAnswer) })
  async messages(
    @Param('id') id: string,
    @Query(new SchemaPipe(messageListQuerySchema)) { limit, after, order }: MessageListQuery,
    @Owner() owner: string,
  ) {
    const { messages } = (await this.completions.find(owner, id)) ?? unknown(id);
    const numbered = messages.map((message, index) => ({ refusal: null, ...message, id: `${id}-${index}` }));
    const ordered = order === 'asc' ? numbered : numbered.toReversed();
    const start = after === undefined ? 0 : ordered.findIndex((message) => message.id === after) + 1;
    if (after !== undefined && start === 0) throw invalidField('after', `${after} is not in this list`);
    return listOf(ordered.slice(start, start + limit), start + limit < ordered.length);
  }
}
