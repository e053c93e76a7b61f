import { MessagingModule } from '#messaging';
import { messagingOptions, loadProfile, ServiceKitModule, type ServiceIdentity } from '#service-kit';
import { Module, type DynamicModule } from '@nestjs/common';
import { openReranker, rerankerToken } from './open-reranker.js';
import { RerankingController } from './reranking.controller.js';
import { type RerankingEnvironment, rerankingSettings } from './reranking.environment.js';
import { RerankingRpcController } from './reranking.rpc.controller.js';
import { RerankingService } from './reranking.service.js';

export const identity: ServiceIdentity = {
  service: 'reranking',
  title: 'opea_service@reranking',
  description: 'Orders passages by how well they answer a question.',
  // The specification has the text of its ASR page here too.
  wrongMethodTexts: { '/v1/rag_reranking': 'The request of ASR fails.' },
};

@Module({})
export class RerankingModule {
  static register(environment: RerankingEnvironment): DynamicModule {
    const profile = loadProfile(environment.MEGANEST_PROFILE);
    return {
      module: RerankingModule,
      imports: [
        ServiceKitModule.register(identity),
        MessagingModule.register(messagingOptions(identity, environment)),
      ],
      controllers: [RerankingController, RerankingRpcController],
      providers: [
        { provide: rerankerToken, useFactory: () => openReranker(environment, profile) },
        { provide: rerankingSettings, useValue: profile.reranking },
        RerankingService,
      ],
    };
  }
}
