import { Module } from '@nestjs/common';
import { BatchFiles } from './batch-files.js';
import { BatchRunner } from './batch-runner.js';
import { BatchesController } from './batches.controller.js';
import { MessageBatchesController } from './message-batches.controller.js';
import { OwnRequests } from './own-requests.js';

/** Batches of requests in the forms of OpenAI and Anthropic. */
@Module({
  controllers: [BatchesController, MessageBatchesController],
  providers: [BatchFiles, BatchRunner, OwnRequests],
})
export class BatchesModule {}
