import { MegaNestError } from '#contracts';
import type { Multipart } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';

export interface FormLimits {
  readonly files: number;
  readonly fields: number;
  /** Most bytes of a field; a longer one arrives cut, with `valueTruncated`. */
  readonly fieldSize: number;
  /** Names of files may be paths; without it the last part is the name. */
  readonly keepsPaths?: boolean;
}

/**
 * Hands the parts of a multipart form to `take`, one after the other as they come in; the content of a file has to be read
 * there, and its name may be empty. Errors: invalid_request for a form that is broken or has too many parts, cancelled where
 * its client left, and what `take` throws.
 */
export async function readFormParts(
  request: FastifyRequest,
  limits: FormLimits,
  take: (part: Multipart) => Promise<void> | void,
): Promise<void> {
  try {
    const { keepsPaths: preservePath = false, ...most } = limits;
    for await (const part of request.parts({ limits: { ...most, fileSize: Infinity }, preservePath })) {
      // A part without a name has none, whatever the types say.
      if (!(part.fieldname as string | undefined))
        throw new MegaNestError('invalid_request', { detail: 'A part of the form has no name.' });
      // The types promise a name, and what only has the content type of a file comes without one.
      if (part.type === 'file') part.filename ??= '';
      await take(part);
    }
  } catch (error) {
    // What is left of the upload is read and dropped: its connection could not serve another request otherwise.
    request.raw.unpipe();
    request.raw.resume();
    if (error instanceof MegaNestError) throw error;
    if (request.raw.readableAborted) throw new MegaNestError('cancelled', { cause: error });
    throw isFormError(error) ? brokenForm(error) : error;
  }
}

/** Errors of the plugin have a code, those of the parser below it only words to tell them by. */
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
