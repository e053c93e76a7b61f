import { assertServedModel, embed, type ReplyOf } from '#contracts';
import { RpcClient } from '#messaging';
import {
  embeddingRequestSchema,
  embeddingResponse,
  embeddingResponseSchema,
  type EmbeddingRequest,
  type EmbeddingResponse,
} from '#openai-api';
import { ApiOperation, Call, Metrics, SchemaPipe, type HttpCall } from '#service-kit';
import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import { outputKindOf } from '../mega-services/nodes/output-kind.js';
import { MegaServiceOutputs } from '../mega-services/mega-service-outputs.js';
import { ModelCatalog } from '../models/model-catalog.js';

@Controller()
export class EmbeddingsController {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(MegaServiceOutputs) private readonly outputs: MegaServiceOutputs,
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  @Post(['v1/embeddings', 'embeddings'])
  @ApiOperation({ summary: 'Turn texts into vectors', answer: embeddingResponseSchema })
  @HttpCode(200)
  create(
    @Body(new SchemaPipe(embeddingRequestSchema)) body: EmbeddingRequest,
    @Call() call: HttpCall,
  ): Promise<EmbeddingResponse> {
    return this.metrics.measure('embeddings', async () => {
      const model = await this.models.named(body.model, 'vectors', call);
      return embeddingResponse(await this.#embed({ ...body, model }, call), body.encoding_format);
    });
  }

  /** Through the mega service of this path, which may be taken away. Errors: model_not_found for any model but the served one. */
  async #embed(body: EmbeddingRequest, call: HttpCall): Promise<ReplyOf<typeof embed>> {
    const { inputs, dimensions, model } = body;
    const definition = this.megaServices.findByPath('/v1/embeddings');
    const isService = definition && outputKindOf(definition) === 'vectors';
    const reply = isService
      ? await this.outputs.vectors(definition, body, call)
      : await this.client.request(embed, { inputs, dimensions, model }, call);
    if (!isService || model !== definition.name) assertServedModel(model, reply.model);
    return reply;
  }
}
