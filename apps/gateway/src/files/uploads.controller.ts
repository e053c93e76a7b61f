import { invalidField, MegaNestError } from '#platform/contracts';
import { cleanFilename } from '#api/dataprep-api';
import { newId } from '#api/responses';
import { ApiOperation, Owner, SchemaPipe } from '#platform/service-kit';
import { FilesRepository, UploadsRepository } from '#platform/storage';
import { Body, Controller, HttpCode, Inject, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import {
  boundsOf,
  type CompleteUpload,
  completeUploadSchema,
  type CreateUpload,
  createUploadSchema,
  expirySeconds,
  newFileId,
  partFormSchema,
  receiveFileForm,
  secondsOf,
  toUploadObject,
  uploadObjectSchema,
  uploadPartSchema,
} from './file-objects.js';

/** Limit for the bytes of a part; the same as OpenAI's. */
const partLimit = 64 * 1024 * 1024;

/** Files that are sent in parts. */
@Controller(['v1/uploads', 'uploads'])
export class UploadsController {
  constructor(
    @Inject(UploadsRepository) private readonly uploads: UploadsRepository,
    @Inject(FilesRepository) private readonly files: FilesRepository,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /** Errors: payload_too_large. */
  @Post()
  @ApiOperation({ summary: 'Start an upload in parts', answer: uploadObjectSchema })
  @HttpCode(200)
  async create(@Body(new SchemaPipe(createUploadSchema)) body: CreateUpload, @Owner() owner: string) {
    const { FILES_FILE_LIMIT_BYTES: most } = this.environment;
    const limit = `${most} bytes`;
    if (body.bytes > most)
      throw new MegaNestError('payload_too_large', { what: 'The file', limit, param: 'bytes' });
    const { purpose, bytes, mime_type: mimeType } = body;
    const filename = cleanFilename(body.filename) || 'file';
    const facts = { filename, purpose, bytes, mimeType, expiresAfterSeconds: expirySeconds(body) };
    return toUploadObject(await this.uploads.create(owner, newId('upload'), facts));
  }

  /** Errors: not_found; conflict where the upload is completed, cancelled or expired; payload_too_large. */
  @Post(':id/parts')
  @ApiOperation({
    summary: 'Send a part',
    answer: uploadPartSchema,
    body: partFormSchema,
    consumes: ['multipart/form-data'],
  })
  @HttpCode(200)
  async addPart(@Param('id') uploadId: string, @Req() http: FastifyRequest, @Owner() owner: string) {
    const upload = (await this.uploads.find(owner, uploadId)) ?? unknownUpload(uploadId);
    const bounds = boundsOf(this.environment);
    const id = newId('part');
    const maxBytes = Math.min(partLimit, upload.bytes);
    try {
      const { result: bytes } = await receiveFileForm(http, { field: 'data', maxBytes }, ({ content }) =>
        this.files.write(owner, { id, uploadId, bounds }, content),
      );
      const createdAt = await this.uploads.addPart(owner, uploadId, { id, bytes });
      return { id, object: 'upload.part' as const, created_at: secondsOf(createdAt), upload_id: uploadId };
    } catch (error) {
      await this.files.discard(id).catch(() => undefined);
      throw error;
    }
  }

  /** Errors: the errors of the repository; invalid_request at `md5`, which leaves the upload open. */
  @Post(':id/complete')
  @ApiOperation({ summary: 'Complete an upload', answer: uploadObjectSchema })
  @HttpCode(200)
  async complete(
    @Param('id') id: string,
    @Body(new SchemaPipe(completeUploadSchema)) { part_ids: partIds, md5 }: CompleteUpload,
    @Owner() owner: string,
  ) {
    if (!(await this.uploads.find(owner, id))) unknownUpload(id);
    if (md5 !== undefined) await this.#assertDigest(await this.uploads.parts(owner, id, partIds), md5);
    const wanted = { partIds, fileId: newFileId(), bounds: boundsOf(this.environment) };
    const { upload, file } = await this.uploads.complete(owner, id, wanted);
    return toUploadObject(upload, file);
  }

  @Post(':id/cancel')
  @ApiOperation({ summary: 'Cancel an upload', answer: uploadObjectSchema })
  @HttpCode(200)
  async cancel(@Param('id') id: string, @Owner() owner: string) {
    return toUploadObject(await this.uploads.cancel(owner, id));
  }

  async #assertDigest(parts: readonly { id: string; bytes: number }[], expected: string): Promise<void> {
    const hash = createHash('md5');
    for (const part of parts) for await (const piece of this.files.content(part)) hash.update(piece);
    if (hash.digest('hex') === expected.toLowerCase()) return;
    throw invalidField('md5', 'differs from the hash of the uploaded bytes');
  }
}

function unknownUpload(id: string): never {
  throw new MegaNestError('not_found', { what: `The upload ${id}`, param: 'upload_id' });
}
