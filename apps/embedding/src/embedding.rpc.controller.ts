import { embed, type ParsedRequestOf, type ReplyOf } from '#platform/contracts';
import { RpcHandler, type RpcContext } from '#platform/messaging';
import { Controller, Inject } from '@nestjs/common';
import { EmbeddingService } from './embedding.service.js';

@Controller()
export class EmbeddingRpcController {
  constructor(@Inject(EmbeddingService) private readonly embedding: EmbeddingService) {}

  @RpcHandler(embed)
  embed(request: ParsedRequestOf<typeof embed>, context: RpcContext): Promise<ReplyOf<typeof embed>> {
    return this.embedding.embed(request, context);
  }
}
