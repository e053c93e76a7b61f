import { Readable } from 'node:stream';
import { ApiOperation, SchemaPipe } from '#service-kit';
import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Owner } from '../auth/owner.js';
import { FileContents } from './file-contents.js';
import { deletedFileSchema, fileObjectSchema, listOf, listSchemaOf, toFileObject } from './file-objects.js';
import { fileFormSchema, fileListQuerySchema, type FileListQuery } from './file.requests.js';
import { FilesService } from './files.service.js';

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
