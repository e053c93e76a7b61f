import { MegaNestError, parseOrThrow } from '#contracts';
import { listOf, listSchemaOf } from '#openai-api';
import { newId } from '#responses';
import { ApiOperation, Owner, SchemaPipe } from '#service-kit';
import { type CursorPage, FilesRepository, type StoredFile } from '#storage';
import {
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Injectable,
  Param,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { deletedFileSchema, FileContents, fileObjectSchema, toFileObject } from './file-objects.js';
import {
  expirySeconds,
  fileFieldsSchema,
  fileFormSchema,
  type FileListQuery,
  fileListQuerySchema,
  receiveFileForm,
} from './file.requests.js';

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

@Controller(['v1/files', 'files'])
export class FilesController {
  constructor(
    @Inject(FilesService) private readonly files: FilesService,
    @Inject(FileContents) private readonly contents: FileContents,
  ) {}

  @Post()
  @ApiOperation({
    summary: 'Upload a file',
    answer: fileObjectSchema,
    body: fileFormSchema,
    consumes: ['multipart/form-data'],
  })
  @HttpCode(200)
  async create(@Req() http: FastifyRequest, @Owner() owner: string) {
    return toFileObject(await this.files.create(owner, http));
  }

  @Get()
  @ApiOperation({ summary: 'List the files', answer: listSchemaOf(fileObjectSchema) })
  async list(@Query(new SchemaPipe(fileListQuerySchema)) query: FileListQuery, @Owner() owner: string) {
    const { rows, hasMore } = await this.files.list(owner, query);
    return listOf(rows.map(toFileObject), hasMore);
  }

  @Get(':id')
  @ApiOperation({ summary: 'What is known of a file', answer: fileObjectSchema })
  async find(@Param('id') id: string, @Owner() owner: string) {
    return toFileObject(await this.files.find(owner, id));
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Delete a file, also from vector stores', answer: deletedFileSchema })
  async delete(@Param('id') id: string, @Owner() owner: string) {
    await this.files.delete(owner, id);
    return { id, object: 'file' as const, deleted: true };
  }

  /** Never shown in a browser as what it claims to be: a page of somebody else's would run as one of the gateway's. */
  @Get(':id/content')
  @ApiOperation({ summary: 'The content of a file', answer: 'application/octet-stream' })
  async content(@Param('id') id: string, @Owner() owner: string, @Res() reply: FastifyReply): Promise<void> {
    const { file, content } = await this.contents.open(owner, id);
    const name = encodeURIComponent(file.filename);
    await reply
      .status(200)
      .header('content-type', 'application/octet-stream')
      .header('content-length', file.bytes)
      .header('content-disposition', `attachment; filename*=UTF-8''${name}`)
      .header('x-content-type-options', 'nosniff')
      .send(Readable.from(content, { objectMode: false }));
  }
}
