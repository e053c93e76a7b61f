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
import { NodeCaller } from './megaservice/node-caller.js';
import { ChatController } from './openai/chat.controller.js';
import { ChatService } from './openai/chat.service.js';
import { EmbeddingsController } from './openai/embeddings.controller.js';
import { ModelCatalog } from './openai/model-catalog.js';
import { ModelsController } from './openai/models.controller.js';
import { RerankController } from './openai/rerank.controller.js';
import { ListController } from './opea/list.controller.js';
import { MegaServiceController } from './opea/mega-service.controller.js';

export const identity: ServiceIdentity = {
  service: 'gateway',
  title: 'opea_service@gateway',
  description: 'The MegaNest mega service: chat with your documents, and the OpenAI API on top of it.',
};

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
        MegaServiceController,
      ],
      providers: [
        { provide: gatewayEnvironment, useValue: environment },
        GatewayHealth,
        ModelCatalog,
        { provide: MegaServiceCatalog, useFactory: () => MegaServiceCatalog.open(environment) },
        NodeCaller,
        MegaServiceRunner,
        ChatService,
        { provide: uploadLimits, useValue: uploadLimitsOf(environment) },
        { provide: Dataprep, useClass: RemoteDataprep },
        IngestReceiver,
      ],
    };
  }
}
