import { defaultCollection, MegaNestError } from '#contracts';
import { ObjectStore } from '#messaging';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { IngestRequest } from './dataprep.js';
import { parseIngestFields } from './ingest-fields.js';
import {
  cleanPath,
  receiveForm,
  uploadLimits,
  type ReceivedForm,
  type UploadLimits,
} from './multipart-form.js';

/** A request as its client sent it, its files already in the object store. */
export interface ReceivedIngest {
  request: IngestRequest;
  /** Answer at once and work in the background. */
  async: boolean;
  /** Removes the files from the object store. */
  readonly discard: () => Promise<void>;
}

/** Turns HTTP requests, multipart forms or JSON, into ingest requests. */
@Injectable()
export class IngestReceiver {
  constructor(
    @Inject(ObjectStore) private readonly objects: ObjectStore,
    @Inject(uploadLimits) private readonly limits: UploadLimits,
  ) {}

  /** Errors: invalid_request, unsupported_parameter, payload_too_large, each with the field as `param`. */
  async receive(http: FastifyRequest): Promise<ReceivedIngest> {
    const form = http.isMultipart()
      ? await receiveForm(http, this.objects, this.limits)
      : { files: [], fields: fieldsOf(http.body) };
    const discard = () => this.objects.discard(form.files);
    try {
      const received = await this.#complete(form, http.query);
      http.auditedCollection = received.request.collection ?? defaultCollection;
      return { ...received, discard };
    } catch (error) {
      await discard();
      throw error;
    }
  }

  async #complete(form: { files: ReceivedForm['files']; fields: Record<string, unknown> }, query: unknown) {
    const { async: inQuery } = query as Record<string, string>;
    const fields = { ...form.fields, ...(inQuery !== undefined && { async: inQuery }) };
    const { async, text, filename, ...parameters } = parseIngestFields(fields, this.limits.maxFiles);
    if (text !== undefined) {
      const description = { filename: cleanPath(filename), mimeType: 'text/plain' };
      form.files.push(await this.objects.put(new TextEncoder().encode(text), description));
    }
    return { request: { ...parameters, files: form.files }, async };
  }
}

function fieldsOf(body: unknown): Record<string, unknown> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as Record<string, unknown>;
  throw new MegaNestError('invalid_request', { detail: 'Send a multipart form or a JSON object.' });
}
