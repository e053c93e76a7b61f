import {
  assertJsonBounds,
  bodyBounds,
  defaultCollection,
  invalidField,
  MegaNestError,
  ingestParametersSchema,
  isVectorStore,
  linkSchema,
  nameSchema,
  parseOrThrow,
} from '#platform/contracts';
import { ObjectStore } from '#platform/messaging';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { IngestRequest } from './dataprep.js';
import { cleanPath, receiveForm, type ReceivedForm } from './multipart-form.js';
import { tooLarge, uploadLimits, type UploadLimits } from './upload-limits.js';

/** A received request. Its files are already in the object store. */
export interface ReceivedIngest {
  request: IngestRequest;
  /** Whether to answer at once and ingest in the background. */
  async: boolean;
  /** Fields without an effect. */
  ignored: string[];
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

  /**
   * Receives a request. Errors: invalid_request, unsupported_parameter, payload_too_large, each with the field as
   * `param`.
   */
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
    const { async, ignored, text, filename, ...parameters } = parseIngestFields(fields, this.limits.maxFiles);
    if (text !== undefined) {
      const description = { filename: cleanPath(filename), mimeType: 'text/plain' };
      form.files.push(await this.objects.put(new TextEncoder().encode(text), description));
    }
    return { request: { ...parameters, files: form.files }, async, ignored };
  }
}

function fieldsOf(body: unknown): Record<string, unknown> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as Record<string, unknown>;
  throw new MegaNestError('invalid_request', { detail: 'Send a multipart form or a JSON object.' });
}

/** Name of a collection from a caller. Collections of vector stores are refused: they belong to their owners. */
export const collectionField = ingestParametersSchema.shape.collection.refine(
  (name) => name === undefined || !isVectorStore(name),
  'collections of vector stores are reached through /v1/vector_stores',
);

/** Further links are refused before each of them is read; `UPLOAD_FILES_LIMIT` is the limit of what is ingested. */
const maxLinksOfRequest = 10_000;

/** Links as an array, as a JSON array in a text, or separated by commas in a text. */
const linksSchema = z.preprocess(
  (value) => (typeof value === 'string' ? parseLinks(value) : value),
  z.array(linkSchema).max(maxLinksOfRequest, `must have at most ${maxLinksOfRequest} links`),
);
const { metadata, chunk_size, chunk_overlap, encoding, keep_revisions } = ingestParametersSchema.shape;

/** The fields of a form or JSON body, without the files. */
export const fieldsSchema = z.strictObject({
  link_list: linksSchema.optional(),
  chunk_size,
  chunk_overlap,
  collection: collectionField,
  /** Name of the collection in the reference implementation. */
  index_name: collectionField,
  metadata: z.preprocess((value) => parseJsonField(value, 'metadata'), metadata),
  encoding,
  keep_revisions,
  async: z.boolean('expected true or false').optional(),
  /** Parameters of the reference. Tables are always read by their structure, so that other values are ignored. */
  process_table: z.boolean('expected true or false').optional(),
  table_strategy: z.enum(['fast', 'hq', 'llm']).optional(),
  /** JSON bodies: the text of a document, in place of an upload. */
  text: z.string().min(1).optional(),
  filename: nameSchema(255).optional(),
});

/** Reads the fields of a form or JSON body. Errors: invalid_request or unsupported_parameter, which name the field. */
export function parseIngestFields(fields: Record<string, unknown>, maxLinks: number) {
  refuseUnknown(fields);
  const present = Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== '' && value !== null),
  );
  const parsed = parseOrThrow(fieldsSchema, present);
  const { link_list: links = [], index_name, async = false, filename = 'text.txt', ...rest } = parsed;
  if (links.length > maxLinks) throw tooLarge('The number of links', `${maxLinks}`, 'link_list');
  if (index_name?.toLowerCase() === 'all')
    throw invalidField('index_name', 'all means all collections; choose another name');
  const { process_table = true, table_strategy = 'fast', ...wanted } = rest;
  const ignored = [
    ...(process_table ? [] : ['process_table']),
    ...(table_strategy === 'fast' ? [] : ['table_strategy']),
  ];
  return { ...wanted, collection: wanted.collection ?? index_name, links, async, filename, ignored };
}

function refuseUnknown(fields: Record<string, unknown>): void {
  const known = Object.keys(fieldsSchema.shape);
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const detail = `The field ${unknown} is not known here. Known: files, ${known.join(', ')}.`;
  throw new MegaNestError('unsupported_parameter', { detail, param: unknown });
}

function parseLinks(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed.startsWith('[')) return parseJsonField(trimmed, 'link_list');
  return trimmed
    .split(',', maxLinksOfRequest + 1)
    .map((link) => link.trim())
    .filter(Boolean);
}

/** Parses a field with JSON. A text that is not JSON is returned unchanged, so that the schema refuses it. */
function parseJsonField(value: unknown, field: string): unknown {
  if (typeof value !== 'string') return value;
  assertJsonBounds(value, bodyBounds, field);
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
