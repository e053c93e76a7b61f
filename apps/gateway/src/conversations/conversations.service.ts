import { MegaNestError, parseOrThrow } from '#contracts';
import { listOf, pageShape } from '#openai-api';
import { type InputItem, inputItemSchema, type Metadata, metadataSchema, newId } from '#responses';
import { ConversationsRepository, type ItemPage, type ItemRecord, type StoredConversation } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { PageQuery } from '../responses/api/response-answers.js';
import { ContextLoader } from '../responses/context/context-reader.js';

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
export const listConversationsSchema = z.object(pageShape);
export type ListConversations = z.output<typeof listConversationsSchema>;

/** OpenAI's conversation object. */
export interface Conversation {
  id: string;
  object: 'conversation';
  /** Unix seconds. */
  created_at: number;
  metadata: Metadata;
}

/** Conversations of an owner; `not_found` for everybody else's. */
@Injectable()
export class ConversationsService {
  constructor(
    @Inject(ConversationsRepository) private readonly conversations: ConversationsRepository,
    @Inject(ContextLoader) private readonly context: ContextLoader,
  ) {}

  async create(owner: string, { items, metadata }: CreateConversation): Promise<Conversation> {
    const resolved = await this.context.resolve(owner, items, { path: 'items' });
    return toConversation(
      await this.conversations.create(owner, { id: newId('conv'), metadata, items: resolved }),
    );
  }

  async list(owner: string, page: ListConversations) {
    const { conversations, hasMore } = await this.conversations.list(owner, page);
    return listOf(conversations.map(toConversation), hasMore);
  }

  async find(owner: string, id: string): Promise<Conversation> {
    return toConversation((await this.conversations.find(owner, id)) ?? unknownConversation(id));
  }

  /** Merges metadata; null removes an entry. Errors: invalid_request where it grows beyond its limits. */
  async update(owner: string, id: string, changes: Record<string, string | null>): Promise<Conversation> {
    const merge = (metadata: Metadata) => {
      const merged = Object.entries({ ...metadata, ...changes }).filter(([, value]) => value !== null);
      return parseOrThrow(metadataSchema, Object.fromEntries(merged));
    };
    return toConversation(
      (await this.conversations.updateMetadata(owner, id, merge)) ?? unknownConversation(id),
    );
  }

  async delete(owner: string, id: string): Promise<void> {
    if (!(await this.conversations.delete(owner, id))) unknownConversation(id);
  }

  async page(owner: string, id: string, page: PageQuery): Promise<ItemPage> {
    await this.find(owner, id);
    return this.conversations.itemPage(id, page);
  }

  /** Appends items and answers them as they are kept. */
  async addItems(owner: string, id: string, items: InputItem[]): Promise<ItemRecord[]> {
    await this.find(owner, id);
    const resolved = await this.context.resolve(owner, items, { path: 'items' });
    await this.conversations.addItems(owner, id, resolved);
    return resolved;
  }

  async findItem(owner: string, id: string, itemId: string): Promise<ItemRecord> {
    await this.find(owner, id);
    return (await this.conversations.findItem(id, itemId)) ?? unknownItem(itemId);
  }

  /** Removes an item and answers its conversation. */
  async deleteItem(owner: string, id: string, itemId: string): Promise<Conversation> {
    const conversation = await this.find(owner, id);
    if (!(await this.conversations.deleteItem(id, itemId))) unknownItem(itemId);
    return conversation;
  }
}

function toConversation({ id, createdAt, metadata }: StoredConversation): Conversation {
  return { id, object: 'conversation', created_at: Math.floor(createdAt.getTime() / 1000), metadata };
}

function unknownConversation(id: string): never {
  throw new MegaNestError('not_found', { what: `The conversation ${id}`, param: 'conversation_id' });
}

function unknownItem(id: string): never {
  throw new MegaNestError('not_found', { what: `The item ${id}`, param: 'item_id' });
}
