import { Module } from '@nestjs/common';
import { ResponsesModule } from '../responses/responses.module.js';
import { ConversationsController } from './conversations.controller.js';
import { ConversationsService } from './conversations.service.js';

/** Conversations that responses are added to. */
@Module({
  imports: [ResponsesModule],
  controllers: [ConversationsController],
  providers: [ConversationsService],
})
export class ConversationsModule {}
