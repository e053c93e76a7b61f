import { rerank, type ParsedRequestOf, type ReplyOf } from '#platform/contracts';
import { RpcHandler, type RpcContext } from '#platform/messaging';
import { Controller, Inject } from '@nestjs/common';
import { RerankingService } from './reranking.service.js';

@Controller()
export class RerankingRpcController {
  constructor(@Inject(RerankingService) private readonly reranking: RerankingService) {}

  @RpcHandler(rerank)
  rerank(request: ParsedRequestOf<typeof rerank>, context: RpcContext): Promise<ReplyOf<typeof rerank>> {
    return this.reranking.rerank(request, context.signal);
  }
}
