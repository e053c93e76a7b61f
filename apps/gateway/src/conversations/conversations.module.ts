import { MegaNestError, parseOrThrow } from '#platform/contracts';
import { listOf, pageShape } from '#api/openai-api';
import { inputItemSchema, type Metadata, metadataSchema, newId } from '#api/responses';
import { ApiOperation, Owner, SchemaPipe } from '#platform/service-kit';
import { ConversationsRepository, type StoredConversation } from '#platform/storage';
import { Body, Controller, Delete, Get, HttpCode, Inject, Module, Param, Post, Query } from '@nestjs/common';
import { z } from 'zod';
import {
  conversationAnswer,
  conversationListAnswer,
  deletedAnswer,
  itemAnswer,
  itemListAnswer,
  pageQuerySchema,
  type PageQuery,
} from '../responses/api/response-answers.js';
import { ContextLoader } from '../responses/context/context-reader.js';
import { ResponsesModule } from '../responses/responses.module.js';

/** Maximum items in one request. OpenAI allows 20, but sessions of the Agents SDK send more. */
const maxItems = 1_000;
const items = z.array(inputItemSchema).max(maxItems);

const createConversationSchema = z.object({
  items: items.nullish().transform((value) => value ?? []),
  metadata: metadataSchema.nullish().transform((value) => value ?? {}),
});
type CreateConversation = z.output<typeof createConversationSchema>;

/** Changes of the metadata. A value of null removes its entry. */
const updateConversationSchema = z.object({
  metadata: z
    .record(z.string().max(64), z.string().max(512).nullable())
    .nullable()
    .transform((value) => value ?? {}),
});
type UpdateConversation = z.output<typeof updateConversationSchema>;

const createItemsSchema = z.object({ items });
type CreateItems = z.output<typeof createItemsSchema>;

/** Query of the list of conversations. OpenAI's API has no such list, so it has the form of OpenAI's other lists. */
const listConversationsSchema = z.object(pageShape);
type ListConversations = z.output<typeof listConversationsSchema>;

/** The conversations of an owner. Conversations of other owners are `not_found`. */
@Controller(['v1/conversations', 'conversations'])
export class ConversationsController {
  constructor(
    @Inject(ConversationsRepository) private readonly conversations: ConversationsRepository,
    @Inject(ContextLoader) private readonly context: ContextLoader,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Create a conversation', answer: conversationAnswer })
  @HttpCode(200)
  async create(
    @Body(new SchemaPipe(createConversationSchema)) { items, metadata }: CreateConversation,
    @Owner() owner: string,
  ) {
    const resolved = await this.context.resolve(owner, items, { path: 'items' });
    const conversation = { id: newId('conv'), metadata, items: resolved };
    return toConversation(await this.conversations.create(owner, conversation));
  }

  @Get()
  @ApiOperation({ summary: 'List the conversations, latest first', answer: conversationListAnswer })
  async list(
    @Query(new SchemaPipe(listConversationsSchema)) page: ListConversations,
    @Owner() owner: string,
  ) {
    const { conversations, hasMore } = await this.conversations.list(owner, page);
    return listOf(conversations.map(toConversation), hasMore);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Get a conversation', answer: conversationAnswer })
  async find(@Param('id') id: string, @Owner() owner: string) {
    return toConversation((await this.conversations.find(owner, id)) ?? unknownConversation(id));
  }

  /** Merges metadata; null removes an entry. Errors: invalid_request if the result exceeds the limits. */
  @Post(':id')
  @ApiOperation({ summary: 'Change the metadata of a conversation', answer: conversationAnswer })
  @HttpCode(200)
  async update(
    @Param('id') id: string,
    @Body(new SchemaPipe(updateConversationSchema)) { metadata: changes }: UpdateConversation,
    @Owner() owner: string,
  ) {
    const merge = (metadata: Metadata) => {
      const merged = Object.entries({ ...metadata, ...changes }).filter(([, value]) => value !== null);
      return parseOrThrow(metadataSchema, Object.fromEntries(merged));
    };
    const updated = await this.conversations.updateMetadata(owner, id, merge);
    return toConversation(updated ?? unknownConversation(id));
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Delete a conversation', answer: deletedAnswer })
  async delete(@Param('id') id: string, @Owner() owner: string) {
    if (!(await this.conversations.delete(owner, id))) unknownConversation(id);
    return { id, object: 'conversation.deleted' as const, deleted: true };
  }

  @Get(':id/items')
  @ApiOperation({ summary: 'List the items of a conversation', answer: itemListAnswer })
  async items(
    @Param('id') id: string,
    @Query(new SchemaPipe(pageQuerySchema)) page: PageQuery,
    @Owner() owner: string,
  ) {
    await this.find(id, owner);
    const { items, hasMore } = await this.conversations.itemPage(id, page);
    return listOf(items, hasMore);
  }

  /** Appends items. Returns them as they are stored. */
  @Post(':id/items')
  @ApiOperation({ summary: 'Add items to a conversation', answer: itemListAnswer })
  @HttpCode(200)
  async addItems(
    @Param('id') id: string,
    @Body(new SchemaPipe(createItemsSchema)) { items }: CreateItems,
    @Owner() owner: string,
  ) {
    await this.find(id, owner);
    const resolved = await this.context.resolve(owner, items, { path: 'items' });
    await this.conversations.addItems(owner, id, resolved);
    return listOf(resolved, false);
  }

  @Get(':id/items/:itemId')
  @ApiOperation({ summary: 'Get an item of a conversation', answer: itemAnswer })
  async findItem(@Param('id') id: string, @Param('itemId') itemId: string, @Owner() owner: string) {
    await this.find(id, owner);
    return (await this.conversations.findItem(id, itemId)) ?? unknownItem(itemId);
  }

  /** Deletes an item. Returns its conversation. */
  @Delete(':id/items/:itemId')
  @ApiOperation({ summary: 'Delete an item of a conversation', answer: conversationAnswer })
  async deleteItem(@Param('id') id: string, @Param('itemId') itemId: string, @Owner() owner: string) {
    const conversation = await this.find(id, owner);
    if (!(await this.conversations.deleteItem(id, itemId))) unknownItem(itemId);
    return conversation;
  }
}

function toConversation({ id, createdAt, metadata }: StoredConversation) {
  const created_at = Math.floor(createdAt.getTime() / 1000);
  return { id, object: 'conversation' as const, created_at, metadata };
}

function unknownConversation(id: string): never {
  throw new MegaNestError('not_found', { what: `The conversation ${id}`, param: 'conversation_id' });
}

function unknownItem(id: string): never {
  throw new MegaNestError('not_found', { what: `The item ${id}`, param: 'item_id' });
}

/** Conversations that responses are added to. */
@Module({
  imports: [ResponsesModule],
  controllers: [ConversationsController],
})
export class ConversationsModule {}
