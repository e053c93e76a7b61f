import { ApiOperation, SchemaPipe } from '#service-kit';
import { Body, Controller, Header, HttpCode, Inject, Post } from '@nestjs/common';
import { Owner } from '../auth/owner.js';
import { ChatHistoryService } from './chat-history.service.js';
import { chatHistoryAnswer, deletedAnswer, given, idOrTrue } from './record-answers.js';
import {
  chatHistoryIdSchema,
  createChatHistorySchema,
  type ChatHistoryId,
  type CreateChatHistory,
} from './user-record.requests.js';

/** The reference's chat history service. */
@Controller('v1/chathistory')
export class ChatHistoryController {
  constructor(@Inject(ChatHistoryService) private readonly histories: ChatHistoryService) {}

  @Post('create')
  @ApiOperation({ summary: 'Store a chat history, or replace one', answer: idOrTrue })
  @HttpCode(200)
  @Header('content-type', 'application/json')
  async create(
    @Body(new SchemaPipe(createChatHistorySchema)) body: CreateChatHistory,
    @Owner() owner: string,
  ): Promise<string> {
    return JSON.stringify(await this.histories.save(owner, body));
  }

  @Post('get')
  @ApiOperation({ summary: 'The chat histories of a user, or one of them', answer: chatHistoryAnswer })
  @HttpCode(200)
  get(@Body(new SchemaPipe(chatHistoryIdSchema)) { user, id }: ChatHistoryId, @Owner() owner: string) {
    const scope = { owner, user };
    return id ? this.histories.find(scope, id) : this.histories.list(scope);
  }

  @Post('delete')
  @ApiOperation({ summary: 'Delete a chat history', answer: deletedAnswer })
  @HttpCode(200)
  @Header('content-type', 'application/json')
  async delete(
    @Body(new SchemaPipe(chatHistoryIdSchema)) { user, id }: ChatHistoryId,
    @Owner() owner: string,
  ): Promise<string> {
    return JSON.stringify(await this.histories.delete({ owner, user }, given(id, 'id')));
  }
}
