import { invalidField, MegaNestError } from '#platform/contracts';
import { cleanFilename } from '#api/dataprep-api';
import { newId } from '#api/responses';
import { contentOf, readFormParts } from '#platform/service-kit';
import type { StoredFile, StoredUpload } from '#platform/storage';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { GatewayEnvironment } from '../config/gateway.environment.js';

/** Unix seconds. */
export function secondsOf(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

/** OpenAI's file object. */
export const fileObjectSchema = z.object({
  id: z.string(),
  object: z.literal('file'),
  bytes: z.int(),
  created_at: z.int(),
  expires_at: z.int().optional(),
  filename: z.string(),
  purpose: z.string(),
  status: z.literal('processed'),
});
type FileObject = z.infer<typeof fileObjectSchema>;

export const deletedFileSchema = z.object({
  id: z.string(),
  object: z.literal('file'),
  deleted: z.literal(true),
});

export function toFileObject(file: StoredFile): FileObject {
  const { id, bytes, createdAt, expiresAt, filename, purpose } = file;
  return {
    id,
    object: 'file',
    bytes,
    created_at: secondsOf(createdAt),
    ...(expiresAt && { expires_at: secondsOf(expiresAt) }),
    filename,
    purpose,
    status: 'processed',
  };
}

/** OpenAI's upload object. */
export const uploadObjectSchema = z.object({
  id: z.string(),
  object: z.literal('upload'),
  bytes: z.int(),
  created_at: z.int(),
  expires_at: z.int(),
  filename: z.string(),
  purpose: z.string(),
  status: z.enum(['pending', 'completed', 'cancelled', 'expired']),
  /** The file that the upload became; null until it is completed. */
  file: fileObjectSchema.nullable(),
});
type UploadObject = z.infer<typeof uploadObjectSchema>;

export const uploadPartSchema = z.object({
  id: z.string(),
  object: z.literal('upload.part'),
  created_at: z.int(),
  upload_id: z.string(),
});

export function toUploadObject(upload: StoredUpload, file?: StoredFile): UploadObject {
  const { id, bytes, createdAt, expiresAt, filename, purpose, status } = upload;
  return {
    id,
    object: 'upload',
    bytes,
    created_at: secondsOf(createdAt),
    expires_at: secondsOf(expiresAt),
    filename,
    purpose,
    status,
    file: file ? toFileObject(file) : null,
  };
}

/** Limits for all files of one owner: total bytes and number of files. */
export function boundsOf({ FILES_LIMIT_BYTES: maxBytes, FILES_LIMIT_COUNT: maxCount }: GatewayEnvironment) {
  return { maxBytes, maxCount };
}

/** A new file id in OpenAI's form: `file-…`. */
export function newFileId(): string {
  return newId('file').replace('_', '-');
}

const purpose = z.enum(['assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals']);
const expiresAfter = z.strictObject({
  anchor: z.literal('created_at'),
  seconds: z.coerce.number().int().min(3_600).max(2_592_000),
});
const filename = z.string().min(1).max(255);

/** The fields of the form next to the file. */
export const fileFieldsSchema = z.strictObject({ purpose, expires_after: expiresAfter.optional() });
type FileFields = z.output<typeof fileFieldsSchema>;

/** The whole form, for the OpenAPI document. */
export const fileFormSchema = fileFieldsSchema.extend({
  file: z.string().describe('The file').meta({ format: 'binary' }),
});
export const partFormSchema = z.strictObject({
  data: z.string().describe('The bytes of the part').meta({ format: 'binary' }),
});

export const fileListQuerySchema = z.object({
  limit: z.coerce.number().int().min(1).max(10_000).default(10_000),
  order: z.enum(['asc', 'desc']).default('desc'),
  after: z.string().optional(),
  purpose: z.string().optional(),
});
export type FileListQuery = z.output<typeof fileListQuerySchema>;

export const createUploadSchema = z.strictObject({
  filename,
  purpose,
  bytes: z.int().min(1),
  mime_type: z.string().min(1).max(255),
  expires_after: expiresAfter.optional(),
});
export type CreateUpload = z.output<typeof createUploadSchema>;

export const completeUploadSchema = z.strictObject({
  part_ids: z.array(z.string()).min(1).max(10_000),
  md5: z
    .string()
    .regex(/^[0-9a-fA-F]{32}$/, 'is not an MD5 hash in hex')
    .optional(),
});
export type CompleteUpload = z.output<typeof completeUploadSchema>;

/** Lifetime of files with the purpose `batch`, as at OpenAI. */
const batchFileSeconds = 30 * 24 * 60 * 60;

export function expirySeconds({ purpose: wanted, expires_after: after }: FileFields): number | undefined {
  return after?.seconds ?? (wanted === 'batch' ? batchFileSeconds : undefined);
}

/** The file of a form while it is received. */
interface IncomingFile {
  filename: string;
  mimeType: string;
  content: AsyncIterable<Uint8Array>;
}

const maxFieldBytes = 64 * 1024;

/**
 * Reads a form with one file and streams the file to `consume`. Fields may come before or after the file. `name[part]`
 * is part of an object. Errors: invalid_request that names the field, payload_too_large, and the errors of `consume`.
 */
export async function receiveFileForm<Result>(
  http: FastifyRequest,
  { field, maxBytes }: { field: string; maxBytes: number },
  consume: (file: IncomingFile) => Promise<Result>,
): Promise<{ result: Result; fields: Record<string, unknown> }> {
  if (!http.isMultipart()) throw invalidField(field, 'send it in a multipart form');
  const fields: Record<string, unknown> = {};
  const results: Result[] = [];
  const limits = { files: 2, fields: 20, fieldSize: maxFieldBytes };
  await readFormParts(http, limits, async (part) => {
    if (part.type === 'field') {
      if (part.valueTruncated) throw invalidField(part.fieldname, 'is too long');
      addField(fields, part.fieldname, part.value);
    } else if (part.fieldname !== field || results.length > 0)
      throw invalidField(part.fieldname, `one file in the field "${field}" is expected`);
    else {
      const filename = cleanFilename(part.filename) || 'file';
      const content = within(maxBytes, contentOf(part), field);
      results.push(await consume({ filename, mimeType: part.mimetype, content }));
    }
  });
  if (results.length === 0) throw invalidField(field, 'is required');
  return { result: results[0] as Result, fields };
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
