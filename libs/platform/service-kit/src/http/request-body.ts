import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { ByteTurns } from '#platform/foundation';
import {
  assertJsonBounds,
  bodyBounds,
  MegaNestError,
  parseOrThrow,
  type JsonBounds,
} from '#platform/contracts';
import type { Multipart, MultipartFile } from '@fastify/multipart';
import type { PipeTransform } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';
import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import type { z } from 'zod';

/** A body's text. Errors: invalid_json where it is not valid UTF-8. */
export function decodeBody(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (cause) {
    throw new MegaNestError('invalid_json', { detail: 'it is not valid UTF-8', cause });
  }
}

/** Parses a JSON body; refuses broken JSON, and what exceeds the bounds. An empty body is an empty object. */
export function parseJsonBody(text: string, bounds: JsonBounds = bodyBounds): unknown {
  if (text.trim() === '') return {};
  assertJsonBounds(text, bounds);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MegaNestError('invalid_json', { detail: cause instanceof Error ? cause.message : '', cause });
  }
}

type Decoder = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const decoders: Readonly<Record<string, Decoder>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
  deflate: promisify(inflate),
};

/** The encodings that a body may have, for `Accept-Encoding`. */
export const bodyEncodings = 'gzip, br, deflate';

/** The name of a request's encoding; undefined for a plain body. Errors: unsupported_media_type for an unknown one. */
export function encodingOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  const name = (headers['content-encoding'] ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity') return undefined;
  if (Object.hasOwn(decoders, name)) return name;
  throw new MegaNestError('unsupported_media_type', {
    detail: `content-encoding: ${name.slice(0, 100)} is not supported; send ${bodyEncodings} or a plain body.`,
    param: 'content-encoding',
  });
}

/**
 * Returns the decompressed body, at most `limit` bytes. Errors: payload_too_large for a larger body, invalid_request
 * for a broken one.
 */
export async function decodedBody(
  body: Buffer,
  encoding: string | undefined,
  limit: number,
): Promise<Buffer> {
  const decoder = encoding === undefined ? undefined : decoders[encoding];
  if (!decoder || body.length === 0) return body;
  try {
    return await decoder(body, { maxOutputLength: limit });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE')
      throw new MegaNestError('payload_too_large', {
        what: 'The body, unpacked,',
        limit: `${limit} bytes`,
        cause,
      });
    const detail = `content-encoding: the body is not valid ${encoding}`;
    throw new MegaNestError('invalid_request', { detail, param: 'content-encoding', cause });
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Bounds of the route's JSON bodies; {@link bodyBounds} without it. */
    bodyBounds?: JsonBounds;
  }
}

/** Route of a controller whose bodies have other bounds than {@link bodyBounds}. */
export function BodyBounds(bounds: JsonBounds): MethodDecorator {
  return RouteConfig({ bodyBounds: bounds });
}

/** The bounds of a handler with {@link BodyBounds}. */
export function boundsOf(handler: object): JsonBounds | undefined {
  const config = Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) as
    FastifyContextConfig | undefined;
  return config?.bodyBounds;
}

/** Validates a body or query with a schema: `@Body(new SchemaPipe(schema))`. Errors: 400 with the field's path. */
export class SchemaPipe<Schema extends z.ZodType> implements PipeTransform<unknown, z.output<Schema>> {
  constructor(readonly schema: Schema) {}

  transform(value: unknown): z.output<Schema> {
    return parseOrThrow(this.schema, value ?? {});
  }
}

/** Bytes of all uploads that a turn of the event loop works on: about a millisecond. */
const uploadBytesOfTurn = 256 * 1024;
const uploads = new ByteTurns(uploadBytesOfTurn);

/** The content of a file as it comes in, so that other requests and other clients' files get their turns. */
export function contentOf({ file }: Pick<MultipartFile, 'file'>): AsyncGenerator<Uint8Array, void, void> {
  return uploads.pace(file as AsyncIterable<Uint8Array>);
}

/**
 * Bytes of a part that the parser keeps. A part without a name that fills this and ends in the same piece of the body
 * stops the parser for good, so it is more than a piece has (64 KiB).
 */
const partBytes = 256 * 1024;

interface FormLimits {
  readonly files: number;
  readonly fields: number;
  /** Maximum bytes of a field; a longer field is cut, with `valueTruncated`. */
  readonly fieldSize: number;
  /** Names of files may be paths; without it the last part is the name. */
  readonly keepsPaths?: boolean;
}

/**
 * Hands the parts of a multipart form to `take`, one after the other as they come in; the content of a file ({@link contentOf})
 * has to be read there, and its name may be empty. Errors: invalid_request for a form that is broken or has too many parts,
 * cancelled where its client left, and what `take` throws.
 */
export async function readFormParts(
  request: FastifyRequest,
  limits: FormLimits,
  take: (part: Multipart) => Promise<void> | void,
): Promise<void> {
  try {
    const { keepsPaths: preservePath = false, ...most } = limits;
    // The plugin's own limit is 1,000 parts.
    const parserLimits = { ...most, parts: most.files + most.fields, fileSize: Infinity };
    for await (const part of request.parts({
      limits: parserLimits,
      preservePath,
      fileHwm: partBytes,
    })) {
      // A part without a name has none, whatever the types say.
      if (!(part.fieldname as string | undefined))
        throw new MegaNestError('invalid_request', { detail: 'A part of the form has no name.' });
      // The types promise a name, and what only has the content type of a file comes without one.
      if (part.type === 'file') part.filename ??= '';
      await take(part);
    }
  } catch (error) {
    // Read and drop the rest of the upload, so that the connection can serve another request.
    request.raw.unpipe();
    request.raw.resume();
    if (error instanceof MegaNestError) throw error;
    if (request.raw.readableAborted) throw new MegaNestError('cancelled', { cause: error });
    throw isFormError(error) ? brokenForm(error) : error;
  }
}

/** The plugin's errors have a code. The parser below it throws errors without one, which their message identifies. */
function isFormError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return (
    (typeof code === 'string' && code.startsWith('FST_')) ||
    /multipart|boundary|part header|terminated early|premature/i.test(error.message)
  );
}

function brokenForm(cause: Error): MegaNestError {
  return new MegaNestError('invalid_request', { detail: `The form cannot be read: ${cause.message}`, cause });
}
