import { Module } from '@nestjs/common';
import { ChatHistoryController, ChatHistoryService } from './chat-history.controller.js';
import { FeedbackController } from './feedback.controller.js';
import { PromptsController } from './prompts.controller.js';

/** Chat histories, feedback and prompts of users. */
@Module({
  controllers: [ChatHistoryController, FeedbackController, PromptsController],
  providers: [ChatHistoryService],
})
export class UserRecordsModule {}
