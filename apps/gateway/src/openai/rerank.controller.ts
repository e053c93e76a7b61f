import { rerank } from '#contracts';
import { RpcClient } from '#messaging';
import {
  rerankCall,
  rerankRequestSchema,
  rerankResponse,
  rerankResponseSchema,
  type RerankRequest,
  type RerankResponse,
} from '#openai-api';
import { ApiOperation, Call, Metrics, SchemaPipe, type HttpCall } from '#service-kit';
import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';

@Controller()
export class RerankController {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  @Post(['v1/rerank', 'v2/rerank', 'rerank'])
  @ApiOperation({ summary: 'Order documents by how well they answer a query', answer: rerankResponseSchema })
  @HttpCode(200)
  rerank(
    @Body(new SchemaPipe(rerankRequestSchema)) body: RerankRequest,
    @Call() call: HttpCall,
  ): Promise<RerankResponse> {
    return this.metrics.measure('rerank', async () => {
      const reply = await this.client.request(rerank, rerankCall(body), call);
      return rerankResponse(reply, body, call.requestId);
    });
  }
}
