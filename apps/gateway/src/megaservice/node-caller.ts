import {
  embed,
  generate,
  MegaNestError,
  rerank,
  retrieve,
  type ChatMessage,
  type GenerationChunk,
  type RequestOf,
  type RetrievedDocument,
} from '#contracts';
import type { NodeContext, NodeRunner } from '#dag';
import { RpcClient, type CallOptions } from '#messaging';
import { Inject, Injectable } from '@nestjs/common';

/** What starts a mega service: the conversation, and the question that its documents are searched for. */
export interface MegaServiceRequest {
  query: string;
  messages: ChatMessage[];
  requestId: string;
  traceparent: string;
}

type Handler = (
  context: NodeContext,
  request: MegaServiceRequest,
  options: CallOptions,
) => ReturnType<NodeRunner>;

/** Calls the service behind a node of a DAG over NATS. */
@Injectable()
export class NodeCaller {
  readonly #handlers: Readonly<Record<string, Handler>> = {
    embedding: (...call) => this.#embed(...call),
    retrieval: (...call) => this.#retrieve(...call),
    reranking: (...call) => this.#rerank(...call),
    llm: (...call) => this.#generate(...call),
  };

  constructor(@Inject(RpcClient) private readonly client: RpcClient) {}

  readonly run: NodeRunner = (context) => {
    const handler = this.#handlers[context.service];
    if (!handler)
      throw new MegaNestError('internal_error', {
        service: 'gateway',
        detail: `no caller for ${context.service}`,
      });
    const request = context.request as MegaServiceRequest;
    const { requestId, traceparent } = request;
    const { deadline, signal } = context;
    return handler(context, request, { requestId, traceparent, deadline, signal });
  };

  /** A question longer than the model's limit is cut: its beginning still finds passages. */
  async #embed(
    { parameters, report }: NodeContext,
    { query }: MegaServiceRequest,
    options: CallOptions,
  ): Promise<string> {
    const reply = await this.client.request(
      embed,
      { truncate: true, ...parameters, inputs: [query] },
      options,
    );
    report({ model: reply.model, promptTokens: reply.promptTokens });
    return reply.vectors;
  }

  async #retrieve(
    { parameters, inputs, report }: NodeContext,
    { query }: MegaServiceRequest,
    options: CallOptions,
  ): Promise<RetrievedDocument[]> {
    const embedding = inputs['embedding'] as string | undefined;
    const reply = await this.client.request(retrieve, { ...parameters, query, embedding }, options);
    report({
      searchType: reply.searchType,
      documents: reply.documents.map(({ id, score }) => ({ id, score })),
    });
    return reply.documents;
  }

  async #rerank(
    { parameters, inputs, report }: NodeContext,
    { query }: MegaServiceRequest,
    options: CallOptions,
  ): Promise<RetrievedDocument[]> {
    const documents = inputs['documents'] as RetrievedDocument[];
    if (documents.length === 0) return [];
    const texts = documents.map(({ text }) => text);
    const reply = await this.client.request(rerank, { ...parameters, query, texts }, options);
    report({ model: reply.model, results: reply.results });
    return reply.results.flatMap(({ index, score }) => {
      const document = documents[index];
      return document ? [{ ...document, score }] : [];
    });
  }

  #generate(
    { parameters, inputs, report }: NodeContext,
    { messages }: MegaServiceRequest,
    options: CallOptions,
  ): AsyncIterable<GenerationChunk> {
    const documents = inputs['documents'] as RetrievedDocument[] | undefined;
    const request: RequestOf<typeof generate> = { ...parameters, messages };
    if (documents && documents.length > 0) {
      request.documents = documents;
      report({ documentIds: documents.map(({ id }) => id) });
    }
    return this.client.stream(generate, request, options);
  }
}
