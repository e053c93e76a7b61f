import { embed } from '#contracts';
import { RpcClient } from '#messaging';
import {
  embeddingRequestSchema,
  embeddingResponse,
  type EmbeddingRequest,
  type EmbeddingResponse,
} from '#openai-api';
import { Call, Metrics, SchemaPipe, type HttpCall } from '#service-kit';
import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';

@Controller()
export class EmbeddingsController {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  @Post(['v1/embeddings', 'embeddings'])
  @HttpCode(200)
  create(
    @Body(new SchemaPipe(embeddingRequestSchema))
    { inputs, dimensions, model, encoding_format }: EmbeddingRequest,
    @Call() call: HttpCall,
  ): Promise<EmbeddingResponse> {
    return this.metrics.measure('embeddings', async () => {
      const reply = await this.client.request(embed, { inputs, dimensions, model }, call);
      return embeddingResponse(reply, encoding_format);
    });
  }
}
