import { rerank, tokensBounds } from '#platform/contracts';
import { RpcClient } from '#platform/messaging';
import {
  codexModel,
  embeddingRequestSchema,
  embeddingResponse,
  embeddingResponseSchema,
  modelCatalogSchema,
  modelList,
  modelSchema,
  plainRerankOperation,
  plainRerankSchema,
  rerankCall,
  rerankRequestSchema,
  rerankResponse,
  rerankResponseSchema,
  teiRerankCall,
  teiRerankResponse,
  type EmbeddingRequest,
  type EmbeddingResponse,
  type PlainRerankRequest,
  type RerankRequest,
  type RerankResponse,
} from '#api/openai-api';
import { ApiOperation, BodyBounds, Call, Metrics, SchemaPipe, type HttpCall } from '#platform/service-kit';
import { Body, Controller, Get, Headers, HttpCode, Inject, Module, Param, Post, Query } from '@nestjs/common';
import { z } from 'zod';
import {
  anthropicModel,
  anthropicModelPage,
  anthropicModelPageSchema,
  anthropicModelSchema,
} from '../anthropic/model-objects.js';
import { ChatModule } from '../chat/chat.module.js';
import { MegaServicesModule } from '../mega-services/mega-services.module.js';
import { ModelCatalog, ModelsModule } from '../models/model-catalog.js';
import { Embeddings } from './embeddings.js';
import { ModelList } from './model-list.js';

/** OpenAI's embeddings. */
@Controller()
export class EmbeddingsController {
  constructor(@Inject(Embeddings) private readonly embeddings: Embeddings) {}

  @Post(['v1/embeddings', 'embeddings'])
  @BodyBounds(tokensBounds)
  @ApiOperation({ summary: 'Turn texts into vectors', answer: embeddingResponseSchema })
  @HttpCode(200)
  async create(
    @Body(new SchemaPipe(embeddingRequestSchema)) body: EmbeddingRequest,
    @Call() call: HttpCall,
  ): Promise<EmbeddingResponse> {
    return embeddingResponse(await this.embeddings.create(body, call), body.encoding_format);
  }
}

/** OpenAI's list of models, with the mega services; in Anthropic's form for its clients. */
@Controller()
export class ModelsController {
  constructor(@Inject(ModelList) private readonly models: ModelList) {}

  @Get(['v1/models', 'models'])
  @ApiOperation({
    summary: 'List the mega services and models',
    answer: z.union([modelCatalogSchema, anthropicModelPageSchema]),
  })
  async list(@Headers('anthropic-version') version: string | undefined, @Query() query: unknown) {
    const { all, served } = await this.models.read();
    if (version !== undefined) return anthropicModelPage(all, query);
    const languageModels = served.filter(({ service }) => service === 'llm');
    return { ...modelList(all), models: languageModels.map(codexModel) };
  }

  /** Ids of the Hugging Face Hub contain a slash, so the rest of the path is the id. */
  @Get(['v1/models/*', 'models/*'])
  @ApiOperation({
    summary: 'Get a mega service or model',
    answer: z.union([modelSchema, anthropicModelSchema]),
    wildcard: 'id',
  })
  async find(@Param('*') path: string, @Headers('anthropic-version') version?: string) {
    const model = await this.models.find(decodeURIComponent(path));
    return version === undefined ? model : anthropicModel(model);
  }
}

/** Reranking in the formats of Cohere and of Text Embeddings Inference. */
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
      const { model } = await this.models.resolve(body.model, 'ranking', call);
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

/** Embeddings, reranking and the list of models. */
@Module({
  imports: [ChatModule, ModelsModule, MegaServicesModule],
  controllers: [EmbeddingsController, ModelsController, RerankController],
  providers: [Embeddings, ModelList],
  exports: [Embeddings, ModelList],
})
export class OpenAiModule {}
