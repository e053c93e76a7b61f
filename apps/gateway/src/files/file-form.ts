import { MegaNestError } from '#contracts';
import { cleanFilename } from '#dataprep-api';
import type { FastifyRequest } from 'fastify';

/** The file of a form while it comes in. */
export interface IncomingFile {
  filename: string;
  mimeType: string;
  content: AsyncIterable<Uint8Array>;
}

/**
 * Reads a form of one file, handing the file on as it comes in; fields may stand before or behind it. `name[part]` is
 * part of an object. Errors: invalid_request that names the field, payload_too_large, and what `consume` throws.
 */
export async function receiveFileForm<Result>(
  http: FastifyRequest,
  { field, maxBytes }: { field: string; maxBytes: number },
  consume: (file: IncomingFile) => Promise<Result>,
): Promise<{ result: Result; fields: Record<string, unknown> }> {
  if (!http.isMultipart()) throw invalid('Send a multipart form.', field);
  const fields: Record<string, unknown> = {};
  let result: { value: Result } | undefined;
  try {
    const limits = { files: 2, fileSize: Infinity, fields: 20, fieldSize: 64 * 1024 };
    for await (const part of http.parts({ limits })) {
      if (part.type === 'field') addField(fields, part.fieldname, part.value);
      else if (part.fieldname !== field || result)
        throw invalid(`${part.fieldname}: one file in the field "${field}" is expected`, part.fieldname);
      else {
        const filename = cleanFilename(part.filename) || 'file';
        const content = within(maxBytes, part.file, field);
        result = { value: await consume({ filename, mimeType: part.mimetype, content }) };
      }
    }
  } catch (error) {
    throw asFormError(error);
  }
  if (!result) throw invalid(`${field}: is required`, field);
  return { result: result.value, fields };
}

function addField(fields: Record<string, unknown>, name: string, value: unknown): void {
  const [, outer, inner] = /^(\w+)\[(\w+)\]$/.exec(name) ?? [];
  if (outer === undefined || inner === undefined) fields[name] = value;
  else fields[outer] = { ...(fields[outer] as object | undefined), [inner]: value };
}

async function* within(
  maxBytes: number,
  content: AsyncIterable<Uint8Array>,
  param: string,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.length;
    if (bytes > maxBytes)
      throw new MegaNestError('payload_too_large', { what: 'The file', limit: `${maxBytes} bytes`, param });
    yield piece;
  }
}

/** The parser's own errors say what is wrong with the form. */
function asFormError(error: unknown): unknown {
  if (error instanceof MegaNestError || !(error instanceof Error)) return error;
  const isForms = /multipart|boundary|part header|premature|reach .* limit/i.test(error.message);
  return isForms ? invalid(`The form cannot be read: ${error.message}`, null, error) : error;
}

function invalid(detail: string, param: string | null, cause?: Error): MegaNestError {
  return new MegaNestError('invalid_request', { detail, param, cause });
}
