import {
  AsrController,
  AudioController,
  audioLimits,
  audioLimitsOf,
  SpeechController,
  Synthesis,
  Transcription,
} from '#audio-api';
import {
  CatalogueController,
  Dataprep,
  IngestController,
  IngestReceiver,
  uploadLimits,
  uploadLimitsOf,
} from '#dataprep-api';
import { MessagingModule } from '#messaging';
import { natsAccess, ServiceKitModule, version, type ServiceIdentity } from '#service-kit';
import { Module, type DynamicModule } from '@nestjs/common';
import { RemoteSynthesis } from './audio/remote-synthesis.js';
import { RemoteTranscription } from './audio/remote-transcription.js';
import { RemoteDataprep } from './dataprep/remote-dataprep.js';
import { gatewayEnvironment, type GatewayEnvironment } from './config/gateway.environment.js';
import { GatewayHealth } from './gateway-health.js';
import { AnnouncedServices } from './mega-services/nodes/announced-services.js';
import { MegaServiceCatalog } from './mega-services/mega-service-catalog.js';
import { MegaServiceRunner } from './mega-services/mega-service-runner.js';
import { ReceiptStore } from './mega-services/receipt-store.js';
import { NodeCaller } from './mega-services/nodes/node-caller.js';
import { ChatController } from './chat/chat.controller.js';
import { ChatService } from './chat/chat.service.js';
import { EmbeddingsController } from './openai/embeddings.controller.js';
import { LanguageModelClient } from './chat/language-model.client.js';
import { ModelCatalog } from './chat/model-catalog.js';
import { ModelsController } from './openai/models.controller.js';
import { RerankController } from './openai/rerank.controller.js';
import { AsyncApiController } from './opea/async-api.controller.js';
import { ListController } from './opea/list.controller.js';
import { ReceiptsController } from './opea/receipts.controller.js';
import { MegaServicePaths } from './opea/mega-service-paths.js';
import { MegaServiceBody } from './mega-services/mega-service-body.js';
import { MegaServiceOutputs } from './mega-services/mega-service-outputs.js';
import { MegaServiceController } from './opea/mega-service.controller.js';
import { responsesControllers, responsesProviders } from './responses/responses.providers.js';
import { ChatHistoryController } from './user-records/chat-history.controller.js';
import { ChatHistoryService } from './user-records/chat-history.service.js';
import { FeedbackController } from './user-records/feedback.controller.js';
import { PromptsController } from './user-records/prompts.controller.js';
import { filesControllers, filesProviders } from './vector-stores/vector-stores.providers.js';

export const identity: ServiceIdentity = {
  service: 'gateway',
  title: 'opea_service@gateway',
  description: 'The MegaNest mega service: chat with your documents, and the OpenAI API on top of it.',
  wrongMethodTexts: {
    '/v1/embeddings': 'The request of getting embedding vector fails.',
    '/v1/chat/completions': 'The request of LLM generation fails.',
    '/v1/asr': 'The request of ASR fails.',
  },
};

/** Receipts kept in memory: the last thousand of an hour. */
const receiptBounds = { maxCount: 1_000, maxBytes: 8 * 2 ** 20, maxAgeMs: 3_600_000 };

const controllers = [
  ChatController,
  EmbeddingsController,
  ModelsController,
  RerankController,
  AudioController,
  SpeechController,
  AsrController,
  IngestController,
  CatalogueController,
  ListController,
  ReceiptsController,
  AsyncApiController,
  ...responsesControllers,
  ...filesControllers,
  ChatHistoryController,
  FeedbackController,
  PromptsController,
  MegaServiceController,
];

@Module({})
export class GatewayModule {
  static register(environment: GatewayEnvironment): DynamicModule {
    return {
      module: GatewayModule,
      imports: [
        ServiceKitModule.register(identity),
        MessagingModule.register({
          ...identity,
          ...natsAccess(environment),
          name: identity.service,
          version,
        }),
      ],
      controllers,
      providers: [
        { provide: gatewayEnvironment, useValue: environment },
        GatewayHealth,
        LanguageModelClient,
        ModelCatalog,
        AnnouncedServices,
        {
          provide: MegaServiceCatalog,
          inject: [AnnouncedServices],
          useFactory: (announced: AnnouncedServices) => MegaServiceCatalog.open(environment, announced),
        },
        NodeCaller,
        { provide: ReceiptStore, useFactory: () => new ReceiptStore(receiptBounds) },
        MegaServiceRunner,
        ChatService,
        MegaServiceBody,
        MegaServiceOutputs,
        MegaServicePaths,
        { provide: uploadLimits, useValue: uploadLimitsOf(environment) },
        { provide: Dataprep, useClass: RemoteDataprep },
        IngestReceiver,
        { provide: audioLimits, useValue: audioLimitsOf(environment) },
        { provide: Transcription, useClass: RemoteTranscription },
        { provide: Synthesis, useClass: RemoteSynthesis },
        ...responsesProviders(environment),
        ...filesProviders(environment),
        ChatHistoryService,
      ],
    };
  }
}
