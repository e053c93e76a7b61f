import { rerank } from '#contracts';
import { RpcClient } from '#messaging';
import {
  plainRerankOperation,
  plainRerankSchema,
  rerankCall,
  rerankRequestSchema,
  rerankResponse,
  rerankResponseSchema,
  teiRerankCall,
  teiRerankResponse,
  type PlainRerankRequest,
  type RerankRequest,
  type RerankResponse,
} from '#openai-api';
import { ApiOperation, Call, Metrics, SchemaPipe, type HttpCall } from '#service-kit';
import { ModelCatalog } from '../models/model-catalog.js';
import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';

@Controller()
export class RerankController {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  @Post(['v1/rerank', 'v2/rerank'])
  @ApiOperation({ summary: 'Order documents by how well they answer a query', answer: rerankResponseSchema })
  @HttpCode(200)
  rerank(
    @Body(new SchemaPipe(rerankRequestSchema)) body: RerankRequest,
    @Call() call: HttpCall,
  ): Promise<RerankResponse> {
    return this.metrics.measure('rerank', async () => {
      const model = await this.models.named(body.model ?? undefined, 'ranking', call);
      const reply = await this.client.request(rerank, rerankCall({ ...body, model }), call);
      return rerankResponse(reply, body, call.requestId);
    });
  }

  @Post('rerank')
  @ApiOperation(plainRerankOperation)
  @HttpCode(200)
  async plain(@Body(new SchemaPipe(plainRerankSchema)) body: PlainRerankRequest, @Call() call: HttpCall) {
    if ('documents' in body) return this.rerank(body, call);
    return this.metrics.measure('rerank', async () => {
      return teiRerankResponse(await this.client.request(rerank, teiRerankCall(body), call), body);
    });
  }
}
