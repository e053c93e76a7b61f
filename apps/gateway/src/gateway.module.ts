import {
  CatalogueController,
  Dataprep,
  IngestController,
  IngestReceiver,
  uploadLimits,
  uploadLimitsOf,
} from '#dataprep-api';
import { MessagingModule } from '#messaging';
import { ServiceKitModule, version, type ServiceIdentity } from '#service-kit';
import { Module, type DynamicModule } from '@nestjs/common';
import { RemoteDataprep } from './dataprep/remote-dataprep.js';
import { gatewayEnvironment, type GatewayEnvironment } from './gateway.environment.js';
import { GatewayHealth } from './gateway-health.js';
import { MegaServiceCatalog } from './megaservice/mega-service-catalog.js';
import { MegaServiceRunner } from './megaservice/mega-service-runner.js';
import { ReceiptStore } from './megaservice/receipt-store.js';
import { NodeCaller } from './megaservice/node-caller.js';
import { ChatController } from './openai/chat.controller.js';
import { ChatService } from './openai/chat.service.js';
import { EmbeddingsController } from './openai/embeddings.controller.js';
import { ModelCatalog } from './openai/model-catalog.js';
import { ModelsController } from './openai/models.controller.js';
import { RerankController } from './openai/rerank.controller.js';
import { ListController } from './opea/list.controller.js';
import { ReceiptsController } from './opea/receipts.controller.js';
import { MegaServiceController } from './opea/mega-service.controller.js';
import { responsesControllers, responsesProviders } from './responses/responses.providers.js';

export const identity: ServiceIdentity = {
  service: 'gateway',
  title: 'opea_service@gateway',
  description: 'The MegaNest mega service: chat with your documents, and the OpenAI API on top of it.',
};

/** Receipts kept in memory: the last thousand of an hour. */
const receiptBounds = { maxCount: 1_000, maxAgeMs: 3_600_000 };

@Module({})
export class GatewayModule {
  static register(environment: GatewayEnvironment): DynamicModule {
    return {
      module: GatewayModule,
      imports: [
        ServiceKitModule.register(identity),
        MessagingModule.register({ ...identity, url: environment.NATS_URL, name: identity.service, version }),
      ],
      controllers: [
        ChatController,
        EmbeddingsController,
        ModelsController,
        RerankController,
        IngestController,
        CatalogueController,
        ListController,
        ReceiptsController,
        ...responsesControllers,
        MegaServiceController,
      ],
      providers: [
        { provide: gatewayEnvironment, useValue: environment },
        GatewayHealth,
        ModelCatalog,
        { provide: MegaServiceCatalog, useFactory: () => MegaServiceCatalog.open(environment) },
        NodeCaller,
        { provide: ReceiptStore, useFactory: () => new ReceiptStore(receiptBounds) },
        MegaServiceRunner,
        ChatService,
        { provide: uploadLimits, useValue: uploadLimitsOf(environment) },
        { provide: Dataprep, useClass: RemoteDataprep },
        IngestReceiver,
        ...responsesProviders(environment),
      ],
    };
  }
}
