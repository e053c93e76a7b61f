import {
  describeRerankingModel,
  rerank,
  type ModelInfo,
  type ParsedRequestOf,
  type ReplyOf,
} from '#contracts';
import { MessagingModule, RpcHandler, type RpcContext } from '#messaging';
import { loadProfile, messagingOptions, ServiceKitModule, type ServiceIdentity } from '#service-kit';
import { Controller, Inject, Module, type DynamicModule } from '@nestjs/common';
import { openReranker, rerankerToken, RerankingService } from './reranking.service.js';
import { RerankingController } from './reranking.controller.js';
import { rerankingSettings, type RerankingEnvironment } from './reranking.environment.js';

@Controller()
export class RerankingRpcController {
  constructor(@Inject(RerankingService) private readonly reranking: RerankingService) {}

  @RpcHandler(rerank)
  rerank(request: ParsedRequestOf<typeof rerank>, context: RpcContext): Promise<ReplyOf<typeof rerank>> {
    return this.reranking.rerank(request, context.signal);
  }

  @RpcHandler(describeRerankingModel)
  describe(): ModelInfo {
    return this.reranking.model;
  }
}

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
