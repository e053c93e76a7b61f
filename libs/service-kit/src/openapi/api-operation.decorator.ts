import { SetMetadata } from '@nestjs/common';
import type { z } from 'zod';

/** What a route tells of itself beside what its pipes already say. */
export interface OperationDeclaration {
  /** One line, as a heading. */
  summary: string;
  /** Schema of the JSON answer, or a media type for an answer that is no JSON, e.g. `text/plain`. */
  answer: z.ZodType | string;
  /** Schema of each event's data, where the answer may also be a stream of server-sent events. */
  events?: z.ZodType;
  /** Answers under other statuses, e.g. `{ 202: jobSchema }`. */
  also?: Readonly<Record<number, z.ZodType>>;
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
export interface HiddenOperation {
  hidden: string;
}

const metadataKey = Symbol('meganest:operation');

/**
 * Declares a route for the OpenAPI document. Body and query come from the schemas of the route's `SchemaPipe`s, so that
 * what validates is what is documented; this adds the answer. A route without it fails
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

/** What {@link ApiOperation} or {@link HiddenRoute} declared of a handler; undefined where neither stands. */
export function declarationOf(handler: object): OperationDeclaration | HiddenOperation | undefined {
  return Reflect.getMetadata(metadataKey, handler) as OperationDeclaration | HiddenOperation | undefined;
}
