import { Sealer } from '#api/responses';
import { SecretsRepository } from '#platform/storage';
import { Module, type Provider } from '@nestjs/common';
import { createHash, randomBytes } from 'node:crypto';
import { ChatModule } from '../chat/chat.module.js';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { DocumentToolsModule } from '../document-tools/document-tools.module.js';
import { ImageStoreModule } from '../input-files/image-store.js';
import { InputFilesModule } from '../input-files/input-files.js';
import { MegaServicesModule } from '../mega-services/mega-services.module.js';
import { ModelsModule } from '../models/model-catalog.js';
import { VectorStoresModule } from '../vector-stores/vector-stores.module.js';
import { CompactionController } from './api/compaction.controller.js';
import { ResponsesController } from './api/responses.controller.js';
import { Compactor } from './compaction/compactor.js';
import { Summarizer } from './compaction/summarizer.js';
import { ContextLoader, ContextReader } from './context/context-reader.js';
import { ContextWindow } from './context/context-window.js';
import { GenerationStarter } from './execution/generation-starter.js';
import { HandoverRpcController } from './execution/handover.rpc.controller.js';
import { ResponsePersistence } from './execution/persistence.js';
import { ResponsePlanner } from './execution/response-planner.js';
import { ResponseReader, ResponsesService } from './execution/responses.service.js';
import { ResponseRuns } from './execution/response-runs.js';
import { ResponseSweeper, Retention } from './execution/response-sweeper.js';
import { serverToolProviders } from './tools/plan-tools.js';
import { ResponseSockets } from './websocket/response-sockets.js';

/** Name of the generated sealing key, for an installation without a configured key. */
const secretName = 'responses-encryption-key';

/**
 * Seals the items that clients keep for the server. The keys are the configured texts, each hashed to a key. Without a
 * configured key one is generated and shared through the database, so that every gateway can open an item that another
 * gateway sealed.
 */
const responseSealer: Provider = {
  provide: Sealer,
  inject: [gatewayEnvironment, SecretsRepository],
  useFactory: async (
    { RESPONSES_ENCRYPTION_KEYS: configured }: GatewayEnvironment,
    secrets: SecretsRepository,
  ): Promise<Sealer> => {
    if (configured.length > 0)
      return new Sealer(configured.map((text) => createHash('sha256').update(text).digest()));
    return new Sealer([await secrets.getOrCreate(secretName, randomBytes(32))]);
  },
};

/** The Responses API. */
@Module({
  imports: [
    ModelsModule,
    ChatModule,
    MegaServicesModule,
    InputFilesModule,
    DocumentToolsModule,
    ImageStoreModule,
    VectorStoresModule,
  ],
  controllers: [CompactionController, HandoverRpcController, ResponsesController],
  providers: [
    Compactor,
    ContextLoader,
    ContextReader,
    ContextWindow,
    GenerationStarter,
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
  exports: [ContextLoader, Sealer],
})
export class ResponsesModule {}
