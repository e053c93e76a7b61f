import { MegaNestError, parseOrThrow } from '#contracts';
import { newId } from '#responses';
import { FilesRepository, type CursorPage, type StoredFile } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { receiveFileForm } from './file-form.js';
import { expirySeconds, fileFieldsSchema, type FileListQuery } from './file.requests.js';

/** A fresh id of a file, as OpenAI writes them. */
export function newFileId(): string {
  return newId('file').replace('_', '-');
}

/** Files of an owner; `not_found` for everybody else's. */
@Injectable()
export class FilesService {
  constructor(
    @Inject(FilesRepository) private readonly files: FilesRepository,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /** Keeps the file of a form, written piece by piece as it comes in; nothing stays of one that fails. */
  async create(owner: string, http: FastifyRequest): Promise<StoredFile> {
    const { FILES_FILE_LIMIT_BYTES: maxBytes } = this.environment;
    const id = newFileId();
    try {
      const form = await receiveFileForm(http, { field: 'file', maxBytes }, async (file) => {
        const bytes = await this.files.write(owner, { id, bounds: this.#bounds }, file.content);
        return { bytes, filename: file.filename, mimeType: file.mimeType };
      });
      const { bytes, filename, mimeType } = form.result;
      const fields = parseOrThrow(fileFieldsSchema, form.fields);
      const facts = {
        filename,
        mimeType,
        purpose: fields.purpose,
        expiresAfterSeconds: expirySeconds(fields),
      };
      return await this.files.publish(owner, id, facts, { bytes, bounds: this.#bounds });
    } catch (error) {
      await this.files.discard(id).catch(() => undefined);
      throw error;
    }
  }

  async find(owner: string, id: string): Promise<StoredFile> {
    return (await this.files.find(owner, id)) ?? unknownFile(id);
  }

  list(owner: string, query: FileListQuery): Promise<CursorPage<StoredFile>> {
    return this.files.list(owner, query);
  }

  /** Removes it from every vector store, too. */
  async delete(owner: string, id: string): Promise<void> {
    if (!(await this.files.delete(owner, id))) unknownFile(id);
  }

  get #bounds() {
    const { FILES_LIMIT_BYTES: maxBytes, FILES_LIMIT_COUNT: maxCount } = this.environment;
    return { maxBytes, maxCount };
  }
}

function unknownFile(id: string): never {
  throw new MegaNestError('not_found', { what: `The file ${id}`, param: 'file_id' });
}
