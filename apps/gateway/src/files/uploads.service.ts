import { createHash } from 'node:crypto';
import { MegaNestError, invalidField } from '#contracts';
import { cleanFilename } from '#dataprep-api';
import { newId } from '#responses';
import { FilesRepository, UploadsRepository, type StoredFile, type StoredUpload } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { receiveFileForm } from './file-form.js';
import { expirySeconds, type CompleteUpload, type CreateUpload } from './file.requests.js';
import { newFileId } from './files.service.js';

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
