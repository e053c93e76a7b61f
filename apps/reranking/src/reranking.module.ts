import {
  describeRerankingModel,
  isOtherModel,
  rerank,
  type ModelInfo,
  type ParsedRequestOf,
  type ReplyOf,
} from '#platform/contracts';
import { MessagingModule, RpcHandler, type RpcContext } from '#platform/messaging';
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
} from '#api/openai-api';
import {
  ApiOperation,
  Call,
  loadProfile,
  messagingOptions,
  SchemaPipe,
  ServiceKitModule,
  setIgnored,
  type HttpCall,
  type ServiceIdentity,
} from '#platform/service-kit';
import { Body, Controller, HttpCode, Inject, Module, Post, Res, type DynamicModule } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import {
  referenceAnswer,
  referenceRequestSchema,
  referenceResponse,
  specAnswer,
  specRequestSchema,
  specResponse,
  type ReferenceRequest,
  type SpecRequest,
} from './reranking.requests.js';
import {
  openReranker,
  rerankerToken,
  RerankingService,
  rerankingSettings,
  type RerankingEnvironment,
} from './reranking.service.js';

@Controller()
export class RerankingController {
  constructor(@Inject(RerankingService) private readonly reranking: RerankingService) {}

  @Post('v1/rag_reranking')
  @ApiOperation({ summary: 'Rerank passages, in the format of the OPEA specification', answer: specAnswer })
  @HttpCode(200)
  async spec(
    @Body(new SchemaPipe(specRequestSchema)) body: SpecRequest,
    @Call() call: HttpCall,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    this.#noteModel(body, reply);
    return specResponse(await this.rerankOpea(body, call), body);
  }

  @Post('v1/reranking')
  @ApiOperation({
    summary: "Rerank passages, in the format of OPEA's reference implementation",
    answer: referenceAnswer,
  })
  @HttpCode(200)
  async reference(
    @Body(new SchemaPipe(referenceRequestSchema)) body: ReferenceRequest,
    @Call() call: HttpCall,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    this.#noteModel(body, reply);
    return referenceResponse(await this.rerankOpea(body, call), body);
  }

  @Post('rerank')
  @ApiOperation(plainRerankOperation)
  @HttpCode(200)
  async plain(
    @Body(new SchemaPipe(plainRerankSchema)) body: PlainRerankRequest,
    @Call() call: HttpCall,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    if ('documents' in body) return this.rerank(body, call, reply);
    return teiRerankResponse(await this.reranking.rerank(teiRerankCall(body), call.signal), body);
  }

  @Post(['v1/rerank', 'v2/rerank'])
  @ApiOperation({
    summary: 'Rerank passages, in the format of Jina, Cohere and vLLM',
    answer: rerankResponseSchema,
  })
  @HttpCode(200)
  async rerank(
    @Body(new SchemaPipe(rerankRequestSchema)) body: RerankRequest,
    @Call() call: HttpCall,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    this.#noteModel(body, reply);
    const request = rerankCall({ ...body, model: undefined });
    return rerankResponse(await this.reranking.rerank(request, call.signal), body, call.requestId);
  }

  /** OPEA's clients send the model of their own engine. The one model of this service ranks, and says so. */
  #noteModel({ model }: { model?: string | null }, reply: FastifyReply): void {
    if (isOtherModel(model, this.reranking.model.id)) setIgnored(reply, ['model']);
  }

  private rerankOpea(body: ReferenceRequest | SpecRequest, call: HttpCall) {
    // The profile's fusion relies on the order of a search, but the caller's passages may be in any order.
    const { initial_query: query, retrieved_docs, top_n, fusion = 'none' } = body;
    const texts = retrieved_docs.map(({ text }) => text);
    const scores = retrieved_docs.flatMap(({ score }) => (typeof score === 'number' ? [score] : []));
    const all = scores.length === texts.length ? scores : undefined;
    return this.reranking.rerank({ query, texts, scores: all, top_n, fusion }, call.signal);
  }
}

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

export const identity: ServiceIdentity = {
  service: 'reranking',
  title: 'opea_service@reranking',
  description: 'Ranks passages by their relevance to a question.',
  // The specification repeats the text of its ASR page here.
  wrongMethodTexts: { '/v1/rag_reranking': 'The request of ASR fails.' },
};

@Module({})
export class RerankingModule {
  static register(environment: RerankingEnvironment): DynamicModule {
    const profile = loadProfile(environment.MEGANEST_PROFILE);
    return {
      module: RerankingModule,
      imports: [
        ServiceKitModule.register(identity),
        MessagingModule.register(messagingOptions(identity, environment)),
      ],
      controllers: [RerankingController, RerankingRpcController],
      providers: [
        { provide: rerankerToken, useFactory: () => openReranker(environment, profile) },
        { provide: rerankingSettings, useValue: profile.reranking },
        RerankingService,
      ],
    };
  }
}
