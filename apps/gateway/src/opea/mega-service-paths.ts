import { toJsonSchema, type JsonSchema } from '#contracts';
import { listParameters, type MegaServiceDefinition } from '#dag';
import { chatCompletionRequestSchema, chatCompletionSchema } from '#openai-api';
import { ApiDocument, type OpenApiPaths } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { outputKindOf } from '../mega-services/nodes/output-kind.js';
import { documentsAnswerSchema } from '../mega-services/documents-answer.js';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';

/** Files of a form, where the mega service reads them. */
const files = { type: 'array', items: { type: 'string', format: 'binary' } };

/**
 * Makes the paths of the mega services' YAML files known, as the files are at that moment: to the OpenAPI document, and to
 * the server, which names the methods of a path.
 */
@Injectable()
export class MegaServicePaths {
  readonly #chat = toJsonSchema(chatCompletionRequestSchema, 'chat', {});
  readonly #answer = toJsonSchema(chatCompletionSchema, 'chat', {});

  readonly #answerGiven = {
    description: 'The answer; a stream unless the body says "stream": false',
    content: {
      'application/json': { schema: this.#answer },
      'text/event-stream': { schema: { type: 'string' } },
    },
  };
  readonly #passagesFound = {
    description: 'The passages, best first',
    content: { 'application/json': { schema: toJsonSchema(documentsAnswerSchema, 'documents', {}) } },
  };

  constructor(
    @Inject(ApiDocument) document: ApiDocument,
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(HttpAdapterHost) { httpAdapter }: HttpAdapterHost<FastifyAdapter>,
  ) {
    document.extend(() => this.#paths());
    const postPaths = { has: (path: string) => megaServices.findByPath(path) !== undefined };
    httpAdapter.getInstance().decorate('postPaths', postPaths);
  }

  #paths(): OpenApiPaths {
    // Vectors have a route of their own, which is in the document already.
    const withPath = this.megaServices
      .list()
      .filter((definition) => definition.path !== undefined && outputKindOf(definition) !== 'vectors');
    return Object.fromEntries(
      withPath.map((definition) => [definition.path, { post: this.#operation(definition) }]),
    );
  }

  #operation(definition: MegaServiceDefinition) {
    const properties: Record<string, unknown> = { ...(this.#chat['properties'] as JsonSchema) };
    for (const { name, schema } of listParameters(definition)) properties[name] ??= schema;
    return {
      operationId: `megaservice.${definition.name}`,
      summary: definition.description,
      tags: ['MegaService'],
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: { ...this.#chat, properties } },
          'multipart/form-data': { schema: { ...this.#chat, properties: { ...properties, files } } },
        },
      },
      responses: {
        200: outputKindOf(definition) === 'documents' ? this.#passagesFound : this.#answerGiven,
        '4XX': { $ref: '#/components/responses/Error' },
        '5XX': { $ref: '#/components/responses/Error' },
      },
    };
  }
}
