import { pollAfter } from '#openai-api';
import { ApiOperation, SchemaPipe } from '#service-kit';
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { listOf, listSchemaOf } from '../files/file-objects.js';
import { Owner } from '../auth/owner.js';
import { AttachedFilesService } from './attached-files.service.js';
import {
  fileBatchSchema,
  toFileBatch,
  toVectorStoreFile,
  vectorStoreFileSchema,
} from './vector-store-objects.js';
import {
  attachedListQuerySchema,
  createBatchSchema,
  type AttachedListQuery,
  type CreateBatch,
} from './vector-store.requests.js';

@Controller(['v1/vector_stores/:storeId/file_batches', 'vector_stores/:storeId/file_batches'])
export class FileBatchesController {
  constructor(@Inject(AttachedFilesService) private readonly attached: AttachedFilesService) {}

  @Post()
  @ApiOperation({ summary: 'Attach files together', answer: fileBatchSchema })
  @HttpCode(200)
  async create(
    @Param('storeId') storeId: string,
    @Body(new SchemaPipe(createBatchSchema)) body: CreateBatch,
    @Owner() owner: string,
  ) {
    return toFileBatch(await this.attached.createBatch(owner, storeId, body));
  }

  @Get(':id')
  @ApiOperation({ summary: 'How far a batch is', answer: fileBatchSchema })
  async find(
    @Param('storeId') storeId: string,
    @Param('id') id: string,
    @Owner() owner: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const found = toFileBatch(await this.attached.findBatch(owner, storeId, id));
    void reply.headers(pollAfter(found));
    return found;
  }

  @Post(':id/cancel')
  @ApiOperation({ summary: 'Give up what of a batch is not indexed yet', answer: fileBatchSchema })
  @HttpCode(200)
  async cancel(@Param('storeId') storeId: string, @Param('id') id: string, @Owner() owner: string) {
    return toFileBatch(await this.attached.cancelBatch(owner, storeId, id));
  }

  @Get(':id/files')
  @ApiOperation({ summary: 'List the files of a batch', answer: listSchemaOf(vectorStoreFileSchema) })
  async files(
    @Param('storeId') storeId: string,
    @Param('id') id: string,
    @Query(new SchemaPipe(attachedListQuerySchema)) query: AttachedListQuery,
    @Owner() owner: string,
  ) {
    const { rows, hasMore } = await this.attached.list(owner, storeId, query, id);
    return listOf(rows.map(toVectorStoreFile), hasMore);
  }
}
