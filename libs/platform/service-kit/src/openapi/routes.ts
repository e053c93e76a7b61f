import { RequestMethod, SetMetadata, type Type } from '@nestjs/common';
import {
  HTTP_CODE_METADATA,
  METHOD_METADATA,
  PATH_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { MetadataScanner } from '@nestjs/core';
import type { JsonBounds } from '#platform/contracts';
import type { z } from 'zod';
import { boundsOf, SchemaPipe } from '../http/request-body.js';

/** One route of a controller as Nest's decorators and pipes describe it. */
export interface Route {
  /** `EmbeddingController.embeddings`. */
  name: string;
  /** Lower case, as OpenAPI writes it; a route for all methods counts as `get`. */
  method: string;
  /** The path and its aliases, in OpenAPI's form: `/v1/responses/{id}`. */
  paths: string[];
  status: number;
  body?: z.ZodType;
  /** Bounds of the body, where they are not the usual ones. */
  bodyBounds?: JsonBounds;
  query?: z.ZodType;
  /** Query parameters that are read one by one. */
  queryNames: string[];
  headerNames: string[];
  declaration?: OperationDeclaration | HiddenOperation;
}

interface Argument {
  data?: unknown;
  pipes?: unknown[];
}

/** The routes of a Nest controller; handlers of messages are none. */
export function routesOf(controller: Type): Route[] {
  const prototype = controller.prototype as Record<string, object>;
  return new MetadataScanner()
    .getAllMethodNames(prototype)
    .filter((name) => Reflect.hasMetadata(METHOD_METADATA, prototype[name] ?? {}))
    .map((name) => routeOf(controller, name, prototype[name] ?? {}));
}

function routeOf(controller: Type, name: string, handler: object): Route {
  const declaration = declarationOf(handler);
  const wildcard = declaration && 'wildcard' in declaration ? declaration.wildcard : undefined;
  const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod;
  return {
    name: `${controller.name}.${name}`,
    method: method === RequestMethod.ALL ? 'get' : (RequestMethod[method] ?? 'get').toLowerCase(),
    paths: pathsOf(controller, handler).map((path) => toOpenApiPath(path, wildcard)),
    status: (Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number | undefined) ?? 200,
    ...argumentsOf(controller, name),
    bodyBounds: boundsOf(handler),
    declaration,
  };
}

function argumentsOf(controller: Type, name: string) {
  const metadata = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) as
    Record<string, Argument> | undefined;
  const all = Object.entries(metadata ?? {});
  const of = (kind: RouteParamtypes) =>
    all.filter(([key]) => key.startsWith(`${kind}:`)).map(([, argument]) => argument);
  return {
    body: of(RouteParamtypes.BODY).map(schemaOf).find(Boolean),
    query: of(RouteParamtypes.QUERY).map(schemaOf).find(Boolean),
    queryNames: of(RouteParamtypes.QUERY).flatMap(nameOf),
    headerNames: of(RouteParamtypes.HEADERS).flatMap(nameOf),
  };
}

function schemaOf({ pipes = [] }: Argument): z.ZodType | undefined {
  return pipes.find((pipe): pipe is SchemaPipe<z.ZodType> => pipe instanceof SchemaPipe)?.schema;
}

function nameOf({ data }: Argument): string[] {
  return typeof data === 'string' ? [data] : [];
}

function pathsOf(controller: Type, handler: object): string[] {
  return pathList(controller).flatMap((prefix) => pathList(handler).map((path) => `${prefix}/${path}`));
}

function pathList(target: object): string[] {
  return [Reflect.getMetadata(PATH_METADATA, target) as string | string[] | undefined]
    .flat()
    .map((path) => path ?? '');
}

/** `v1//responses/:id/` to `/v1/responses/{id}`. */
function toOpenApiPath(path: string, wildcard = 'path'): string {
  const parts = path.split('/').filter((part) => part !== '');
  const named = parts.map((part) => (part === '*' ? `:${wildcard}` : part));
  return `/${named.map((part) => part.replace(/^:(\w+)$/, '{$1}')).join('/')}`;
}

/** The declaration of a route, in addition to its pipes. */
export interface OperationDeclaration {
  /** One line, as a heading. */
  summary: string;
  /** Schema of the JSON answer, or the media types of other answers, e.g. `text/plain`. */
  answer: z.ZodType | string | readonly string[];
  /** Schema of each event's data, where the answer may also be a stream of server-sent events. */
  events?: z.ZodType;
  /** Schema of each line, where the answer may also be lines of JSON. */
  lines?: z.ZodType;
  /** Answers under other statuses, e.g. `{ 202: jobSchema }`; undefined for an answer without a body. */
  also?: Readonly<Record<number, z.ZodType | undefined>>;
  /** Schema of the errors, where their form is not OpenAI's. */
  errors?: z.ZodType;
  /** The body, where no `SchemaPipe` reads it or where its schema hands on to others by hand. */
  body?: z.ZodType;
  /** Media types of the body; JSON where it is absent. */
  consumes?: readonly string[];
  /** The query, where no `SchemaPipe` reads it. */
  query?: z.ZodObject;
  /** Name of the path parameter that a `*` in the path stands for. */
  wildcard?: string;
}

/** A route that the document leaves out, and why. */
interface HiddenOperation {
  hidden: string;
}

const metadataKey = Symbol('meganest:operation');

/**
 * Declares a route for the OpenAPI document. Body and query come from the schemas of the route's `SchemaPipe`s, so that
 * the document shows the schemas that validate; this decorator adds the answer. A route without it fails
 * `test/integration/openapi/routes.spec.ts`.
 *
 * ```ts
 * @Post('v1/embeddings')
 * @ApiOperation({ summary: 'Turn texts into vectors', answer: embeddingResponseSchema })
 * embeddings(@Body(new SchemaPipe(embeddingRequestSchema)) body: EmbeddingRequest) { … }
 * ```
 */
export function ApiOperation(declaration: OperationDeclaration): MethodDecorator {
  return SetMetadata(metadataKey, declaration);
}

/** Leaves a route out of the document, with the reason. */
export function HiddenRoute(reason: string): MethodDecorator {
  return SetMetadata(metadataKey, { hidden: reason } satisfies HiddenOperation);
}

/** The declaration of {@link ApiOperation} or {@link HiddenRoute} on a handler; undefined without one. */
function declarationOf(handler: object): OperationDeclaration | HiddenOperation | undefined {
  return Reflect.getMetadata(metadataKey, handler) as OperationDeclaration | HiddenOperation | undefined;
}
