import {
  decodeVectors,
  embed,
  maxQueryCharacters,
  MegaNestError,
  retrievalParametersSchema,
  retrievedDocumentSchema,
  searchTypes,
} from '#platform/contracts';
import { RpcClient, type CallOptions } from '#platform/messaging';
import { ApiOperation, Call, SchemaPipe, setDegraded, type HttpCall } from '#platform/service-kit';
import { Body, Controller, HttpCode, Inject, Injectable, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { RetrievalService, type RetrievalResult } from './retrieval.service.js';

const numbersSchema = z.array(z.number()).max(16_000);

/** A list of numbers, or the whole reply of an embedding service. An empty list counts as a missing embedding. */
const embeddingSchema = z
  .union([
    numbersSchema,
    z
      .object({ data: z.tuple([z.object({ embedding: numbersSchema })], z.unknown()) })
      .transform(({ data }) => data[0].embedding),
  ])
  .transform((numbers) => (numbers.length > 0 ? Float32Array.from(numbers) : undefined));

const bodySchema = retrievalParametersSchema.extend({
  /** The reference's name for a collection. */
  index_name: retrievalParametersSchema.shape.collection,
  text: z.string().min(1).optional(),
  input: z.string().min(1).optional(),
  embedding: embeddingSchema.optional(),
  /** A leftover field of the reference implementation that its clients send: accepted and echoed. */
  json_encoders: z.unknown().optional(),
});

/** Drops parameters with the value null: the reference implementation sends null for parameters that are not set. */
function dropNulls(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** The request of the spec, `{text, embedding}`, or of the reference, `{text|input, embedding, k, search_type, …}`. */
export const retrievalRequestSchema = z
  .preprocess(dropNulls, bodySchema)
  .transform(({ text, input, index_name, collection = index_name, ...body }, context) => {
    const query = text ?? input;
    if (query !== undefined) return { ...body, collection, text: query };
    context.addIssue({ code: 'custom', path: ['text'], message: 'the text to search for is missing' });
    return z.NEVER;
  });

type RetrievalRequest = z.output<typeof retrievalRequestSchema>;

/** Asks the embedding service for the vector of a question. Errors: service_unavailable, which names the service. */
@Injectable()
export class QueryEmbedder {
  constructor(@Inject(RpcClient) private readonly client: RpcClient) {}

  /** Embeds a question. A question that is longer than the model's window is truncated. */
  async embed(text: string, options: CallOptions): Promise<Float32Array> {
    const { vectors, dimensions } = await this.client.request(
      embed,
      { inputs: [text], truncate: true, input_type: 'query' },
      options,
    );
    const [vector] = decodeVectors(vectors, dimensions);
    if (vector) return vector;
    throw new MegaNestError('bad_upstream', { service: 'embedding', detail: 'it answered without a vector' });
  }
}

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

/** The developer API. If the body has no embedding, the embedding service embeds the question. */
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
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SpecResponse> {
    const { documents } = await this.retrieve(body, call, reply);
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
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReferenceResponse> {
    const { documents, searchType } = await this.retrieve(body, call, reply);
    // The reference returns a score but no similarity.
    const retrieved_docs = documents.map(({ similarity: _similarity, ...document }) => document);
    return { retrieved_docs, initial_query: body.text, search_type: searchType };
  }

  private async retrieve(
    body: RetrievalRequest,
    call: HttpCall,
    reply: FastifyReply,
  ): Promise<RetrievalResult> {
    const { text: asked, json_encoders: _echoed, ...parameters } = body;
    const text = asked.slice(0, maxQueryCharacters);
    const missing = !body.embedding && this.retrieval.needsEmbedding(parameters);
    const embedding = missing ? await this.embedder.embed(text, call) : body.embedding;
    const result = await this.retrieval.retrieve({ ...parameters, query: text, embedding });
    const isCut = text.length < asked.length;
    setDegraded(reply, [...(result.degraded ? ['retrieval'] : []), ...(isCut ? ['query'] : [])]);
    return result;
  }
}
