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
} from '#openai-api';
import { ApiOperation, Call, SchemaPipe, type HttpCall } from '#service-kit';
import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
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
  @ApiOperation({ summary: 'Rerank passages: the OPEA specification', answer: specAnswer })
  @HttpCode(200)
  async spec(@Body(new SchemaPipe(specRequestSchema)) body: SpecRequest, @Call() call: HttpCall) {
    return specResponse(await this.rerankOpea(body, call), body);
  }

  @Post('v1/reranking')
  @ApiOperation({ summary: "Rerank passages: OPEA's reference", answer: referenceAnswer })
  @HttpCode(200)
  async reference(
    @Body(new SchemaPipe(referenceRequestSchema)) body: ReferenceRequest,
    @Call() call: HttpCall,
  ) {
    return referenceResponse(await this.rerankOpea(body, call), body);
  }

  @Post('rerank')
  @ApiOperation(plainRerankOperation)
  @HttpCode(200)
  async plain(@Body(new SchemaPipe(plainRerankSchema)) body: PlainRerankRequest, @Call() call: HttpCall) {
    if ('documents' in body) return this.rerank(body, call);
    return teiRerankResponse(await this.reranking.rerank(teiRerankCall(body), call.signal), body);
  }

  @Post(['v1/rerank', 'v2/rerank'])
  @ApiOperation({ summary: 'Rerank as Jina, Cohere and vLLM', answer: rerankResponseSchema })
  @HttpCode(200)
  async rerank(@Body(new SchemaPipe(rerankRequestSchema)) body: RerankRequest, @Call() call: HttpCall) {
    return rerankResponse(await this.reranking.rerank(rerankCall(body), call.signal), body, call.requestId);
  }

  private rerankOpea(body: ReferenceRequest | SpecRequest, call: HttpCall) {
    // The profile's fusion trusts the order of a search; what callers send may be in any order.
    const { initial_query: query, retrieved_docs, top_n, fusion = 'none', model } = body;
    const texts = retrieved_docs.map(({ text }) => text);
    const scores = retrieved_docs.flatMap(({ score }) => (typeof score === 'number' ? [score] : []));
    const all = scores.length === texts.length ? scores : undefined;
    return this.reranking.rerank({ query, texts, scores: all, top_n, fusion, model }, call.signal);
  }
}
