import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { MegaNestError } from '#contracts';
import type { FastifyRequest } from 'fastify';

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
 * The bytes that a body says, unpacked to at most `limit`. Errors: payload_too_large for one that unpacks to more,
 * invalid_request for one that is broken.
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
