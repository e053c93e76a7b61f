import type { RetrievedDocument, SearchType } from '#contracts';
import { Call, SchemaPipe, type HttpCall } from '#service-kit';
import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { QueryEmbedder } from './query-embedder.client.js';
import { retrievalRequestSchema, type RetrievalRequest } from './retrieval.requests.js';
import { RetrievalService, type RetrievalResult } from './retrieval.service.js';

interface SpecResponse {
  retrieved_docs: string[];
  initial_query: string;
  json_encoders: unknown;
}

interface ReferenceResponse {
  retrieved_docs: RetrievedDocument[];
  initial_query: string;
  search_type: SearchType;
}

/** The developer API. Without an embedding in the body the embedding service is asked for one. */
@Controller()
export class RetrievalController {
  constructor(
    @Inject(RetrievalService) private readonly retrieval: RetrievalService,
    @Inject(QueryEmbedder) private readonly embedder: QueryEmbedder,
  ) {}

  /** OPEA's specification: passages as strings. */
  @Post('v1/rag_retrieval')
  @HttpCode(200)
  async specification(
    @Body(new SchemaPipe(retrievalRequestSchema)) body: RetrievalRequest,
    @Call() call: HttpCall,
  ): Promise<SpecResponse> {
    const { documents } = await this.retrieve(body, call);
    const texts = documents.map(({ text }) => text);
    const json_encoders = body.json_encoders ?? texts.map((text) => ({ text }));
    return { retrieved_docs: texts, initial_query: body.text, json_encoders };
  }

  /** OPEA's reference implementation: passages as objects. */
  @Post('v1/retrieval')
  @HttpCode(200)
  async reference(
    @Body(new SchemaPipe(retrievalRequestSchema)) body: RetrievalRequest,
    @Call() call: HttpCall,
  ): Promise<ReferenceResponse> {
    const { documents, searchType } = await this.retrieve(body, call);
    return { retrieved_docs: documents, initial_query: body.text, search_type: searchType };
  }

  private async retrieve(body: RetrievalRequest, call: HttpCall): Promise<RetrievalResult> {
    const { text, json_encoders: _echoed, ...parameters } = body;
    const missing = !body.embedding && this.retrieval.needsEmbedding(parameters);
    const embedding = missing ? await this.embedder.embed(text, call) : body.embedding;
    return this.retrieval.retrieve({ ...parameters, query: text, embedding });
  }
}
