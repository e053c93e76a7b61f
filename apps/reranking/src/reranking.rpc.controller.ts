import {
  describeRerankingModel,
  rerank,
  type ModelInfo,
  type ParsedRequestOf,
  type ReplyOf,
} from '#contracts';
import { RpcHandler, type RpcContext } from '#messaging';
import { Controller, Inject } from '@nestjs/common';
import { RerankingService } from './reranking.service.js';

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
