import { Module } from '@nestjs/common';
import { ChatModule } from '../chat/chat.module.js';
import { ResponsesModule } from '../responses/responses.module.js';
import { MessagesController } from './messages.controller.js';

/** Anthropic's Messages API. */
@Module({
  imports: [ChatModule, ResponsesModule],
  controllers: [MessagesController],
})
export class AnthropicModule {}
