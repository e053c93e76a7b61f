import { invalidField, MegaNestError } from '#platform/contracts';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';

/** The paths that take forms without files. */
export const ingestPaths = ['v1/dataprep/ingest', 'v1/dataprep'];

/** An ingest has fewer; a form is refused before its fields are decoded. */
const maxFields = 100;

/**
 * Accepts `application/x-www-form-urlencoded` for an ingest, the type of `curl -d` and of Python's `requests` with `data`:
 * the reference reads such forms. Errors on other routes: unsupported_media_type.
 */
export function acceptUrlencodedIngests(app: NestFastifyApplication): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, parseForm);
}

function parseForm(
  request: FastifyRequest,
  body: string,
  done: (error: Error | null, body?: unknown) => void,
): void {
  try {
    done(null, fieldsOfForm(request, body));
  } catch (error) {
    done(error as Error);
  }
}

function fieldsOfForm({ routeOptions: { url } }: FastifyRequest, body: string): Record<string, string> {
  if (!ingestPaths.includes((url ?? '').replace(/^\//, '')))
    throw new MegaNestError('unsupported_media_type', {
      detail: 'application/x-www-form-urlencoded is not supported here. Send application/json.',
    });
  if (body.split('&', maxFields + 1).length > maxFields)
    throw new MegaNestError('invalid_request', {
      detail: `The form has more than ${maxFields} fields, which is the limit.`,
    });
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(body)) {
    if (fields.has(name)) throw invalidField(name, 'is there twice');
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}
