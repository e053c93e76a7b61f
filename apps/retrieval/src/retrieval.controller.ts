import { retrievedDocumentSchema, searchTypes } from '#contracts';
import { ApiOperation, Call, SchemaPipe, type HttpCall } from '#service-kit';
import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { z } from 'zod';
import { QueryEmbedder } from './query-embedder.client.js';
import { retrievalRequestSchema, type RetrievalRequest } from './retrieval.requests.js';
import { RetrievalService, type RetrievalResult } from './retrieval.service.js';

const specResponseSchema = z.object({
  retrieved_docs: z.array(z.string()),
  initial_query: z.string(),
  json_encoders: z.unknown(),
});
type SpecResponse = z.output<typeof specResponseSchema>;

const referenceResponseSchema = z.object({
  retrieved_docs: z.array(retrievedDocumentSchema),
  initial_query: z.string(),
  search_type: z.enum(searchTypes),
});
type ReferenceResponse = z.output<typeof referenceResponseSchema>;

/** The developer API. Without an embedding in the body the embedding service is asked for one. */
@Controller()
export class RetrievalController {
  constructor(
    @Inject(RetrievalService) private readonly retrieval: RetrievalService,
    @Inject(QueryEmbedder) private readonly embedder: QueryEmbedder,
  ) {}

  /** OPEA's specification: passages as strings. */
  @Post('v1/rag_retrieval')
  @ApiOperation({ summary: 'Search passages: the OPEA specification', answer: specResponseSchema })
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
  @ApiOperation({ summary: "Search passages: OPEA's reference", answer: referenceResponseSchema })
  @HttpCode(200)
  async reference(
    @Body(new SchemaPipe(retrievalRequestSchema)) body: RetrievalRequest,
    @Call() call: HttpCall,
  ): Promise<ReferenceResponse> {
    const { documents, searchType } = await this.retrieve(body, call);
    // As the reference has them: a score, and nothing beside it.
    const retrieved_docs = documents.map(({ similarity: _similarity, ...document }) => document);
    return { retrieved_docs, initial_query: body.text, search_type: searchType };
  }

  private async retrieve(body: RetrievalRequest, call: HttpCall): Promise<RetrievalResult> {
    const { text, json_encoders: _echoed, ...parameters } = body;
    const missing = !body.embedding && this.retrieval.needsEmbedding(parameters);
    const embedding = missing ? await this.embedder.embed(text, call) : body.embedding;
    return this.retrieval.retrieve({ ...parameters, query: text, embedding });
  }
}
