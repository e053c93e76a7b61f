import { invalidField, MegaNestError } from '#contracts';
import { cleanFilename } from '#dataprep-api';
import { newId } from '#responses';
import { ApiOperation, Owner, SchemaPipe } from '#service-kit';
import { FilesRepository, type StoredFile, type StoredUpload, UploadsRepository } from '#storage';
import { Body, Controller, HttpCode, Inject, Injectable, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import {
  type CompleteUpload,
  completeUploadSchema,
  type CreateUpload,
  createUploadSchema,
  expirySeconds,
  partFormSchema,
  receiveFileForm,
} from './file.requests.js';
import { secondsOf, toUploadObject, uploadObjectSchema, uploadPartSchema } from './file-objects.js';
import { newFileId } from './files.controller.js';

/** Most bytes of a part, as OpenAI's. */
const partLimit = 64 * 1024 * 1024;

/** Files that are sent in parts. */
@Injectable()
export class UploadsService {
  constructor(
    @Inject(UploadsRepository) private readonly uploads: UploadsRepository,
    @Inject(FilesRepository) private readonly files: FilesRepository,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /** Errors: payload_too_large. */
  create(owner: string, body: CreateUpload): Promise<StoredUpload> {
    const { FILES_FILE_LIMIT_BYTES: limit } = this.environment;
    if (body.bytes > limit)
      throw new MegaNestError('payload_too_large', {
        what: 'The file',
        limit: `${limit} bytes`,
        param: 'bytes',
      });
    const { purpose, bytes, mime_type: mimeType } = body;
    const filename = cleanFilename(body.filename) || 'file';
    const facts = { filename, purpose, bytes, mimeType, expiresAfterSeconds: expirySeconds(body) };
    return this.uploads.create(owner, newId('upload'), facts);
  }

  /** Errors: not_found, conflict where the upload takes no parts any more, payload_too_large. */
  async addPart(
    owner: string,
    uploadId: string,
    http: FastifyRequest,
  ): Promise<{ id: string; createdAt: Date }> {
    const upload = (await this.uploads.find(owner, uploadId)) ?? unknownUpload(uploadId);
    const { FILES_LIMIT_BYTES, FILES_LIMIT_COUNT: maxCount } = this.environment;
    const bounds = { maxBytes: FILES_LIMIT_BYTES, maxCount };
    const id = newId('part');
    const maxBytes = Math.min(partLimit, upload.bytes);
    try {
      const { result: bytes } = await receiveFileForm(http, { field: 'data', maxBytes }, ({ content }) =>
        this.files.write(owner, { id, uploadId, bounds }, content),
      );
      return { id, createdAt: await this.uploads.addPart(owner, uploadId, { id, bytes }) };
    } catch (error) {
      await this.files.discard(id).catch(() => undefined);
      throw error;
    }
  }

  cancel(owner: string, id: string): Promise<StoredUpload> {
    return this.uploads.cancel(owner, id);
  }

  /** Errors: those of the repository; invalid_request at `md5`, and then the upload stays open. */
  async complete(
    owner: string,
    id: string,
    { part_ids: partIds, md5 }: CompleteUpload,
  ): Promise<{ upload: StoredUpload; file: StoredFile }> {
    if (!(await this.uploads.find(owner, id))) unknownUpload(id);
    if (md5 !== undefined) await this.#assertDigest(await this.uploads.parts(owner, id, partIds), md5);
    const { FILES_LIMIT_BYTES: maxBytes, FILES_LIMIT_COUNT: maxCount } = this.environment;
    return this.uploads.complete(owner, id, { partIds, fileId: newFileId(), bounds: { maxBytes, maxCount } });
  }

  async #assertDigest(parts: readonly { id: string; bytes: number }[], expected: string): Promise<void> {
    const hash = createHash('md5');
    for (const part of parts) for await (const piece of this.files.content(part)) hash.update(piece);
    if (hash.digest('hex') === expected.toLowerCase()) return;
    throw invalidField('md5', 'is not that of what was uploaded');
  }
}

function unknownUpload(id: string): never {
  throw new MegaNestError('not_found', { what: `The upload ${id}`, param: 'upload_id' });
}

@Controller(['v1/uploads', 'uploads'])
export class UploadsController {
  constructor(@Inject(UploadsService) private readonly uploads: UploadsService) {}

  @Post()
  @ApiOperation({ summary: 'Begin a file that is sent in parts', answer: uploadObjectSchema })
  @HttpCode(200)
  async create(@Body(new SchemaPipe(createUploadSchema)) body: CreateUpload, @Owner() owner: string) {
    return toUploadObject(await this.uploads.create(owner, body));
  }

  @Post(':id/parts')
  @ApiOperation({
    summary: 'Send a part',
    answer: uploadPartSchema,
    body: partFormSchema,
    consumes: ['multipart/form-data'],
  })
  @HttpCode(200)
  async addPart(@Param('id') uploadId: string, @Req() http: FastifyRequest, @Owner() owner: string) {
    const { id, createdAt } = await this.uploads.addPart(owner, uploadId, http);
    return { id, object: 'upload.part' as const, created_at: secondsOf(createdAt), upload_id: uploadId };
  }

  @Post(':id/complete')
  @ApiOperation({ summary: 'Make the file of its parts', answer: uploadObjectSchema })
  @HttpCode(200)
  async complete(
    @Param('id') id: string,
    @Body(new SchemaPipe(completeUploadSchema)) body: CompleteUpload,
    @Owner() owner: string,
  ) {
    const { upload, file } = await this.uploads.complete(owner, id, body);
    return toUploadObject(upload, file);
  }

  @Post(':id/cancel')
  @ApiOperation({ summary: 'Give an upload up', answer: uploadObjectSchema })
  @HttpCode(200)
  async cancel(@Param('id') id: string, @Owner() owner: string) {
    return toUploadObject(await this.uploads.cancel(owner, id));
  }
}
