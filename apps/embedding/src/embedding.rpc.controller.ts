import {
  describeEmbeddingModel,
  embed,
  healthMethod,
  type ModelInfo,
  type ParsedRequestOf,
  type ReplyOf,
} from '#contracts';
import { RpcHandler, type RpcContext } from '#messaging';
import { HealthRegistry } from '#service-kit';
import { Controller, Inject } from '@nestjs/common';
import { EmbeddingService } from './embedding.service.js';

@Controller()
export class EmbeddingRpcController {
  constructor(
    @Inject(EmbeddingService) private readonly embedding: EmbeddingService,
    @Inject(HealthRegistry) private readonly health: HealthRegistry,
  ) {}

  @RpcHandler(embed)
  embed(request: ParsedRequestOf<typeof embed>, context: RpcContext): Promise<ReplyOf<typeof embed>> {
    return this.embedding.embed(request, context.signal);
  }

  @RpcHandler(describeEmbeddingModel)
  describe(): ModelInfo {
    return this.embedding.model;
  }

  @RpcHandler(healthMethod('embedding'))
  report() {
    return this.health.report();
  }
}
