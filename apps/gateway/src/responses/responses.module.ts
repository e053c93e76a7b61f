import { Module } from '@nestjs/common';
import { ChatModule } from '../chat/chat.module.js';
import { InputFilesModule } from '../input-files/input-files.js';
import { MegaServicesModule } from '../mega-services/mega-services.module.js';
import { ModelsModule } from '../models/model-catalog.js';
import { VectorStoresModule } from '../vector-stores/vector-stores.module.js';
import { CompactionController } from './api/compaction.controller.js';
import { ResponsesController } from './api/responses.controller.js';
import { Compactor } from './compaction/compactor.js';
import { Summarizer } from './compaction/summarizer.js';
import { ContextLoader } from './context/context-loader.js';
import { ContextReader } from './context/context-reader.js';
import { ContextWindow } from './context/context-window.js';
import { ModelAbilities } from './context/model-abilities.js';
import { responseSealer } from './context/response-sealer.js';
import { GenerationStarter } from './execution/generation-starter.js';
import { ResponsePersistence } from './execution/response-persistence.js';
import { ResponsePlanner } from './execution/response-planner.js';
import { ResponseReader } from './execution/response-reader.js';
import { ResponseRuns } from './execution/response-runs.js';
import { ResponseSweeper } from './execution/response-sweeper.js';
import { ResponsesService } from './execution/responses.service.js';
import { Retention } from './execution/retention.js';
import { serverToolProviders } from './tools/server-tool-sources.js';
import { ResponseSockets } from './websocket/response-sockets.js';

/** The Responses API. */
@Module({
  imports: [ModelsModule, ChatModule, MegaServicesModule, InputFilesModule, VectorStoresModule],
  controllers: [CompactionController, ResponsesController],
  providers: [
    Compactor,
    ContextLoader,
    ContextReader,
    ContextWindow,
    GenerationStarter,
    ModelAbilities,
    ResponsePersistence,
    ResponsePlanner,
    ResponseReader,
    ResponseRuns,
    ResponseSockets,
    ResponseSweeper,
    ResponsesService,
    responseSealer,
    Retention,
    Summarizer,
    ...serverToolProviders,
  ],
  exports: [ContextLoader],
})
export class ResponsesModule {}
