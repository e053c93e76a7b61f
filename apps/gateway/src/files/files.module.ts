import { Readable } from 'node:stream';
import { MegaNestError, parseOrThrow } from '#platform/contracts';
import { listOf, listSchemaOf } from '#api/openai-api';
import { ApiOperation, Owner, SchemaPipe } from '#platform/service-kit';
import { FilesRepository, type StoredFile } from '#platform/storage';
import {
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Injectable,
  Module,
  Param,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import {
  boundsOf,
  deletedFileSchema,
  expirySeconds,
  fileFieldsSchema,
  fileFormSchema,
  fileListQuerySchema,
  fileObjectSchema,
  newFileId,
  receiveFileForm,
  toFileObject,
  type FileListQuery,
} from './file-objects.js';
import { UploadsController } from './uploads.controller.js';

/** A file with its content, which is read on demand. */
interface OpenedFile {
  file: StoredFile;
  content: AsyncGenerator<Uint8Array, void, void>;
}

/** Reads stored files for responses and vector stores. */
@Injectable()
export class FileContents {
  constructor(@Inject(FilesRepository) private readonly files: FilesRepository) {}

  /** Errors: not_found with `param` where the owner has no such file, or where it is deleted while it is read. */
  async open(owner: string, id: string, param = 'file_id'): Promise<OpenedFile> {
    const file = (await this.files.find(owner, id)) ?? unknownFile(id, param);
    return { file, content: this.files.content(file) };
  }

  /** The whole content. Errors: as {@link open}; payload_too_large, before anything is read. */
  async read(
    owner: string,
    id: string,
    { maxBytes, param = 'file_id' }: { maxBytes: number; param?: string },
  ): Promise<{ file: StoredFile; bytes: Uint8Array }> {
    const { file, content } = await this.open(owner, id, param);
    if (file.bytes > maxBytes) {
      const what = `The file ${file.filename}`;
      throw new MegaNestError('payload_too_large', { what, limit: `${maxBytes} bytes`, param });
    }
    const pieces: Uint8Array[] = [];
    for await (const piece of content) pieces.push(piece);
    return { file, bytes: Buffer.concat(pieces) };
  }
}

/** Files of an owner. A file of another owner is answered with `not_found`. */
@Controller(['v1/files', 'files'])
export class FilesController {
  constructor(
    @Inject(FilesRepository) private readonly files: FilesRepository,
    @Inject(FileContents) private readonly contents: FileContents,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /** The file is stored piece by piece while it is received. A failed upload leaves nothing behind. */
  @Post()
  @ApiOperation({
    summary: 'Upload a file',
    answer: fileObjectSchema,
    body: fileFormSchema,
    consumes: ['multipart/form-data'],
  })
  @HttpCode(200)
  async create(@Req() http: FastifyRequest, @Owner() owner: string) {
    const { FILES_FILE_LIMIT_BYTES: maxBytes } = this.environment;
    const bounds = boundsOf(this.environment);
    const id = newFileId();
    try {
      const form = await receiveFileForm(http, { field: 'file', maxBytes }, async (file) => {
        const bytes = await this.files.write(owner, { id, bounds }, file.content);
        return { bytes, filename: file.filename, mimeType: file.mimeType };
      });
      const { bytes, ...named } = form.result;
      const fields = parseOrThrow(fileFieldsSchema, form.fields);
      const facts = { ...named, purpose: fields.purpose, expiresAfterSeconds: expirySeconds(fields) };
      return toFileObject(await this.files.publish(owner, id, facts, { bytes, bounds }));
    } catch (error) {
      await this.files.discard(id).catch(() => undefined);
      throw error;
    }
  }

  @Get()
  @ApiOperation({ summary: 'List the files', answer: listSchemaOf(fileObjectSchema) })
  async list(@Query(new SchemaPipe(fileListQuerySchema)) query: FileListQuery, @Owner() owner: string) {
    const { rows, hasMore } = await this.files.list(owner, query);
    return listOf(rows.map(toFileObject), hasMore);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Show a file', answer: fileObjectSchema })
  async find(@Param('id') id: string, @Owner() owner: string) {
    return toFileObject((await this.files.find(owner, id)) ?? unknownFile(id));
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Delete a file, also from vector stores', answer: deletedFileSchema })
  async delete(@Param('id') id: string, @Owner() owner: string) {
    if (!(await this.files.delete(owner, id))) unknownFile(id);
    return { id, object: 'file' as const, deleted: true };
  }

  /** Always sent as a download: a browser would run an uploaded page with the gateway's origin. */
  @Get(':id/content')
  @ApiOperation({ summary: 'Download the content of a file', answer: 'application/octet-stream' })
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

function unknownFile(id: string, param = 'file_id'): never {
  throw new MegaNestError('not_found', { what: `The file ${id}`, param });
}

/** Files and uploads in parts. */
@Module({
  controllers: [FilesController, UploadsController],
  providers: [FileContents],
  exports: [FileContents],
})
export class FilesModule {}
