import { MessagingModule } from '#messaging';
import { messagingOptions, ServiceKitModule, type ServiceIdentity } from '#service-kit';
import { Module, type DynamicModule } from '@nestjs/common';
import { embedderToken, openEmbedder } from './open-embedder.js';
import { EmbeddingController } from './embedding.controller.js';
import type { EmbeddingEnvironment } from './embedding.environment.js';
import { EmbeddingRpcController } from './embedding.rpc.controller.js';
import { EmbeddingService } from './embedding.service.js';

export const identity: ServiceIdentity = {
  service: 'embedding',
  title: 'opea_service@embedding',
  description: 'Turns texts into vectors.',
  wrongMethodTexts: { '/v1/embeddings': 'The request of getting embedding vector fails.' },
};

@Module({})
export class EmbeddingModule {
  static register(environment: EmbeddingEnvironment): DynamicModule {
    return {
      module: EmbeddingModule,
      imports: [
        ServiceKitModule.register(identity),
        MessagingModule.register(messagingOptions(identity, environment)),
      ],
      controllers: [EmbeddingController, EmbeddingRpcController],
      providers: [{ provide: embedderToken, useFactory: () => openEmbedder(environment) }, EmbeddingService],
    };
  }
}
