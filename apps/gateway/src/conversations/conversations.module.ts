import { listOf } from '#openai-api';
import { ApiOperation, Owner, SchemaPipe } from '#service-kit';
import { Body, Controller, Delete, Get, HttpCode, Inject, Module, Param, Post, Query } from '@nestjs/common';
import {
  conversationAnswer,
  conversationListAnswer,
  deletedAnswer,
  itemAnswer,
  itemListAnswer,
  pageQuerySchema,
  type PageQuery,
} from '../responses/api/response-answers.js';
import { ResponsesModule } from '../responses/responses.module.js';
import {
  ConversationsService,
  type CreateConversation,
  createConversationSchema,
  type CreateItems,
  createItemsSchema,
  type ListConversations,
  listConversationsSchema,
  type UpdateConversation,
  updateConversationSchema,
} from './conversations.service.js';

@Controller(['v1/conversations', 'conversations'])
export class ConversationsController {
  constructor(@Inject(ConversationsService) private readonly conversations: ConversationsService) {}

  @Post()
  @ApiOperation({ summary: 'Create a conversation', answer: conversationAnswer })
  @HttpCode(200)
  create(@Body(new SchemaPipe(createConversationSchema)) body: CreateConversation, @Owner() owner: string) {
    return this.conversations.create(owner, body);
  }

  @Get()
  @ApiOperation({ summary: 'List the conversations, latest first', answer: conversationListAnswer })
  list(@Query(new SchemaPipe(listConversationsSchema)) page: ListConversations, @Owner() owner: string) {
    return this.conversations.list(owner, page);
  }

  @Get(':id')
  @ApiOperation({ summary: 'A conversation', answer: conversationAnswer })
  find(@Param('id') id: string, @Owner() owner: string) {
    return this.conversations.find(owner, id);
  }

  @Post(':id')
  @ApiOperation({ summary: 'Change its metadata', answer: conversationAnswer })
  @HttpCode(200)
  update(
    @Param('id') id: string,
    @Body(new SchemaPipe(updateConversationSchema)) { metadata }: UpdateConversation,
    @Owner() owner: string,
  ) {
    return this.conversations.update(owner, id, metadata);
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Delete a conversation', answer: deletedAnswer })
  async delete(@Param('id') id: string, @Owner() owner: string) {
    await this.conversations.delete(owner, id);
    return { id, object: 'conversation.deleted' as const, deleted: true };
  }

  @Get(':id/items')
  @ApiOperation({ summary: 'List its items', answer: itemListAnswer })
  async items(
    @Param('id') id: string,
    @Query(new SchemaPipe(pageQuerySchema)) page: PageQuery,
    @Owner() owner: string,
  ) {
    const { items, hasMore } = await this.conversations.page(owner, id, page);
    return listOf(items, hasMore);
  }

  @Post(':id/items')
  @ApiOperation({ summary: 'Add items', answer: itemListAnswer })
  @HttpCode(200)
  async addItems(
    @Param('id') id: string,
    @Body(new SchemaPipe(createItemsSchema)) { items }: CreateItems,
    @Owner() owner: string,
  ) {
    return listOf(await this.conversations.addItems(owner, id, items), false);
  }

  @Get(':id/items/:itemId')
  @ApiOperation({ summary: 'An item', answer: itemAnswer })
  findItem(@Param('id') id: string, @Param('itemId') itemId: string, @Owner() owner: string) {
    return this.conversations.findItem(owner, id, itemId);
  }

  @Delete(':id/items/:itemId')
  @ApiOperation({ summary: 'Delete an item', answer: conversationAnswer })
  deleteItem(@Param('id') id: string, @Param('itemId') itemId: string, @Owner() owner: string) {
    return this.conversations.deleteItem(owner, id, itemId);
  }
}

/** Conversations that responses are added to. */
@Module({
  imports: [ResponsesModule],
  controllers: [ConversationsController],
  providers: [ConversationsService],
})
export class ConversationsModule {}
