import { isOtherModel } from '#platform/contracts';
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
import { ApiOperation, Call, SchemaPipe, setIgnored, type HttpCall } from '#platform/service-kit';
import { Body, Controller, HttpCode, Inject, Post, Res } from '@nestjs/common';
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
import { RerankingService } from './reranking.service.js';

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
    if (isOtherModel(model, this.reranking.modelId)) setIgnored(reply, ['model']);
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
