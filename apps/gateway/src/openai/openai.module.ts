import { assertServedModel, embed, MegaNestError, rerank, tokensBounds, type ReplyOf } from '#contracts';
import { RpcClient } from '#messaging';
import type { MegaServiceDefinition } from '#dag';
import {
  capabilityFields,
  codexModel,
  embeddingRequestSchema,
  embeddingResponse,
  embeddingResponseSchema,
  modelCatalogSchema,
  modelList,
  modelObject,
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
  type Model,
  type PlainRerankRequest,
  type RerankRequest,
  type RerankResponse,
} from '#openai-api';
import { ApiOperation, BodyBounds, Call, Metrics, SchemaPipe, type HttpCall } from '#service-kit';
import { Body, Controller, Get, Headers, HttpCode, Inject, Module, Param, Post, Query } from '@nestjs/common';
import { anthropicModel, anthropicModelPage } from '../anthropic/model-objects.js';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import { MegaServiceOutputs } from '../mega-services/mega-service-outputs.js';
import { MegaServicesModule } from '../mega-services/mega-services.module.js';
import { givesAnswers, outputKindOf, takesConversations } from '../mega-services/definition-checks.js';
import { ModelCatalog, ModelsModule, type ServedModel } from '../models/model-catalog.js';

/** OpenAI's embeddings. */
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
  @BodyBounds(tokensBounds)
  @ApiOperation({ summary: 'Turn texts into vectors', answer: embeddingResponseSchema })
  @HttpCode(200)
  create(
    @Body(new SchemaPipe(embeddingRequestSchema)) body: EmbeddingRequest,
    @Call() call: HttpCall,
  ): Promise<EmbeddingResponse> {
    return this.metrics.measure('embeddings', async () => {
      const isMegaService = (name: string) => this.megaServices.find(name) !== undefined;
      const { model } = await this.models.resolve(body.model, 'vectors', call, isMegaService);
      return embeddingResponse(await this.#embed({ ...body, model }, call), body.encoding_format);
    });
  }

  /**
   * Embeds through the mega service of the path `/v1/embeddings`, if there is one. Errors: model_not_found for a model
   * that is not served.
   */
  async #embed(body: EmbeddingRequest, call: HttpCall): Promise<ReplyOf<typeof embed>> {
    const { inputs, dimensions, input_type, model } = body;
    const definition = this.megaServices.findByPath('/v1/embeddings');
    const isService = definition && outputKindOf(definition) === 'vectors';
    const reply = isService
      ? await this.outputs.vectors(definition, body, call)
      : await this.client.request(embed, { inputs, dimensions, input_type, model }, call);
    if (!isService || model !== definition.name) assertServedModel(model, reply.model);
    return reply;
  }
}

/** Timeout of a language model that is asked for its abilities for the list. */
const abilitiesMs = 1_000;

const isForChats = ({ type }: Model) => type === 'chat';

/** OpenAI's list of models, with the mega services; in Anthropic's form for its clients. */
@Controller()
export class ModelsController {
  constructor(
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  @Get(['v1/models', 'models'])
  @ApiOperation({ summary: 'List the mega services and models', answer: modelCatalogSchema })
  async list(@Headers('anthropic-version') version: string | undefined, @Query() query: unknown) {
    const served = await this.#served();
    if (version !== undefined) return anthropicModelPage(await this.#all(served), query);
    const languageModels = served.filter(({ service }) => service === 'llm');
    return { ...modelList(await this.#all(served)), models: languageModels.map(codexModel) };
  }

  /** Ids of the Hugging Face Hub contain a slash, so the rest of the path is the id. */
  @Get(['v1/models/*', 'models/*'])
  @ApiOperation({ summary: 'Get a mega service or model', answer: modelSchema, wildcard: 'id' })
  async find(@Param('*') path: string, @Headers('anthropic-version') version?: string) {
    const model = await this.#find(decodeURIComponent(path));
    return version === undefined ? model : anthropicModel(model);
  }

  async #find(id: string): Promise<Model> {
    const served = await this.#served();
    const all = await this.#all(served);
    const found = all.find((model) => model.id === id);
    if (found) return found;
    const root = this.models.standsFor(id, served);
    const model = all.find((one) => one.id === root);
    if (model) return { ...model, id, root };
    throw new MegaNestError('model_not_found', {
      model: id,
      available: all.map((one) => one.id).join(', '),
      param: 'model',
    });
  }

  async #served(): Promise<ServedModel[]> {
    const models = await this.models.list();
    return this.environment.MEGA_SERVICES_ONLY ? models.filter(({ service }) => service !== 'llm') : models;
  }

  /** The mega services that give answers, and the models; those for chats first, since some clients take the first one. */
  async #all(served: readonly ServedModel[]): Promise<Model[]> {
    const answering = this.megaServices.list().filter(givesAnswers);
    const megaServices = await Promise.all(answering.map((definition) => this.#megaService(definition)));
    const all = [...megaServices, ...served.map(modelObject)];
    return [...all.filter(isForChats), ...all.filter((model) => !isForChats(model))];
  }

  async #megaService(definition: MegaServiceDefinition): Promise<Model> {
    const object = modelObject({ id: definition.name });
    if (!takesConversations(definition)) return { ...object, ...capabilityFields('text') };
    const options = { deadline: Date.now() + abilitiesMs };
    const [callsTools, input] = await Promise.all([
      this.models.takesForms(definition, options),
      this.models.inputOf(definition, options),
    ]);
    return { ...object, ...capabilityFields('chat', { callsTools, takesImages: input.includes('image') }) };
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
  imports: [ModelsModule, MegaServicesModule],
  controllers: [EmbeddingsController, ModelsController, RerankController],
})
export class OpenAiModule {}
