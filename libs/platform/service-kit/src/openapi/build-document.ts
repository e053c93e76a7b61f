import { toJsonSchema, type JsonSchema } from '#platform/contracts';
import type { Type } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import { z } from 'zod';
import { version, type ServiceIdentity } from '../service-identity.js';
import { routesOf, type OperationDeclaration, type Route } from './routes.js';

/** Path to method to operation, as OpenAPI's `paths`. */
export type OpenApiPaths = Record<string, Record<string, unknown>>;

export interface OpenApiDocument {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string; license: object };
  tags: { name: string }[];
  paths: OpenApiPaths;
  components: { schemas: Record<string, JsonSchema>; responses: object; securitySchemes: object };
  security: object[];
}

/** OpenAI's error envelope: the body of every answer that is not 2xx. */
const errorSchema = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable().describe('Path of the offending field, e.g. messages[0].content'),
    code: z.string().nullable(),
  }),
});

/** The OpenAPI 3.1 document of a service's controllers, made from the schemas that validate its requests. */
export function buildDocument(
  identity: ServiceIdentity,
  controllers: readonly Type[],
  version: string,
): OpenApiDocument {
  const schemas: Record<string, JsonSchema> = {};
  schemas['Error'] = toJsonSchema(errorSchema, 'Error', schemas);
  const paths: OpenApiPaths = {};
  const tags = new Set<string>();
  for (const route of controllers.flatMap(routesOf)) {
    const { declaration } = route;
    if (!declaration || 'hidden' in declaration) continue;
    tags.add(tagOf(route));
    route.paths.forEach((path, index) => {
      const id = index === 0 ? route.name : `${route.name}.${index + 1}`;
      (paths[path] ??= {})[route.method] = describeOperation(route, declaration, { path, id, schemas });
    });
  }
  return {
    openapi: '3.1.0',
    info: {
      title: `MegaNest ${identity.service}`,
      version,
      description: identity.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: [...tags].map((name) => ({ name })),
    paths,
    components: {
      schemas,
      responses: { Error: jsonAnswer('An error', { $ref: '#/components/schemas/Error' }) },
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'One of API_KEYS' } },
    },
    security: [{}, { apiKey: [] }],
  };
}

interface Place {
  path: string;
  id: string;
  schemas: Record<string, JsonSchema>;
}

function describeOperation(route: Route, declaration: OperationDeclaration, place: Place) {
  const schemaName = route.name.replace('.', '_');
  const convert = (schema: z.ZodType, part: string) =>
    toJsonSchema(schema, `${schemaName}_${part}`, place.schemas);
  const bodySchema = declaration.body ?? route.body;
  const mediaTypes = declaration.consumes ?? ['application/json'];
  return {
    operationId: place.id,
    summary: declaration.summary,
    tags: [tagOf(route)],
    parameters: parametersOf(route, declaration, place, convert),
    ...(bodySchema && {
      requestBody: { required: true, content: contentOf(mediaTypes, convert(bodySchema, 'body')) },
    }),
    responses: answersOf(route, declaration, convert),
  };
}

function contentOf(mediaTypes: readonly string[], schema: JsonSchema) {
  return Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema }]));
}

type Convert = (schema: z.ZodType, part: string) => JsonSchema;

function parametersOf(route: Route, declaration: OperationDeclaration, { path }: Place, convert: Convert) {
  const text = { type: 'string' };
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: text,
  }));
  const querySchema = declaration.query ?? route.query;
  const query = querySchema ? convert(querySchema, 'query') : {};
  const required = new Set(query['required'] as string[] | undefined);
  const described = Object.entries((query['properties'] ?? {}) as Record<string, JsonSchema>).map(
    ([name, schema]) => ({ name, in: 'query', required: required.has(name), schema }),
  );
  const known = new Set(described.map(({ name }) => name));
  const bare = route.queryNames.filter((name) => !known.has(name));
  return [
    ...inPath,
    ...described,
    ...bare.map((name) => ({ name, in: 'query', schema: text })),
    ...route.headerNames.map((name) => ({ name, in: 'header', schema: text })),
  ];
}

function answersOf({ status }: Route, declaration: OperationDeclaration, convert: Convert) {
  const { answer, events, lines, also = {}, errors } = declaration;
  const error = errors ? jsonAnswer('An error', convert(errors, 'error')) : sharedError;
  const others = Object.entries(also).map(([code, schema]) => [
    code,
    schema ? jsonAnswer('Accepted', convert(schema, `answer_${code}`)) : { description: 'Accepted' },
  ]);
  return {
    [status]: {
      description: 'Done',
      content: {
        ...answerContent(answer, convert),
        ...(events && eventStream(convert(events, 'event'))),
        ...(lines && contentOf(['application/x-ndjson'], convert(lines, 'line'))),
      },
    },
    ...(Object.fromEntries(others) as Record<string, object>),
    '4XX': error,
    '5XX': error,
  };
}

const sharedError = { $ref: '#/components/responses/Error' };

function answerContent(answer: OperationDeclaration['answer'], convert: Convert) {
  if (typeof answer === 'object' && 'parse' in answer)
    return { 'application/json': { schema: convert(answer, 'answer') } };
  return contentOf([answer].flat(), { type: 'string' });
}

/**
 * A stream of server-sent events in the form of OpenAPI 3.2's items: the schema describes one event, whose data is JSON.
 * A stream may also contain an error, and ends in `[DONE]` in OpenAI's dialects.
 */
function eventStream(data: JsonSchema) {
  const json = {
    type: 'string',
    contentMediaType: 'application/json',
    contentSchema: { anyOf: [data, { $ref: '#/components/schemas/Error' }] },
  };
  const schema = {
    type: 'object',
    properties: { event: { type: 'string' }, data: { anyOf: [{ const: '[DONE]' }, json] } },
    required: ['data'],
  };
  return { 'text/event-stream': { schema } };
}

function jsonAnswer(description: string, schema: JsonSchema) {
  return { description, content: { 'application/json': { schema } } };
}

function tagOf({ name }: Route): string {
  return (name.split('.')[0] ?? name).replace(/Controller$/, '');
}

/** The OpenAPI document of the running service. */
export class ApiDocument {
  #routes: OpenApiDocument | undefined;
  readonly #extensions: (() => OpenApiPaths)[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly identity: ServiceIdentity,
  ) {}

  /** Adds paths that are known only while the service runs; asked for each time the document is read. */
  extend(paths: () => OpenApiPaths): void {
    this.#extensions.push(paths);
  }

  read(): OpenApiDocument {
    this.#routes ??= buildDocument(this.identity, this.#controllers(), version);
    const paths = Object.assign({}, this.#routes.paths, ...this.#extensions.map((extension) => extension()));
    return { ...this.#routes, paths: paths as OpenApiPaths };
  }

  #controllers(): Type[] {
    const wrappers = this.discovery.getControllers();
    return wrappers.flatMap(({ metatype }) => (metatype ? [metatype as Type] : []));
  }
}
