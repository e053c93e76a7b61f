import { Module } from '@nestjs/common';
import { ChatHistoryController } from './chat-history.controller.js';
import { ChatHistoryService } from './chat-history.service.js';
import { FeedbackController } from './feedback.controller.js';
import { PromptsController } from './prompts.controller.js';

/** Chat histories, feedback and prompts of users. */
@Module({
  controllers: [ChatHistoryController, FeedbackController, PromptsController],
  providers: [ChatHistoryService],
})
export class UserRecordsModule {}
