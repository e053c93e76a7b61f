import { maxPosition } from '#platform/contracts';
import { listOf, listSchemaOf, pollAfter } from '#api/openai-api';
import { ApiOperation, Owner, SchemaPipe } from '#platform/service-kit';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { AttachedFilesService } from './attached-files.service.js';
import {
  deletedSchemaOf,
  fileBatchSchema,
  fileContentSchema,
  toFileBatch,
  toVectorStoreFile,
  vectorStoreFileSchema,
} from './vector-store-objects.js';
import {
  attachedListQuerySchema,
  attachFileSchema,
  createBatchSchema,
  updateAttributesSchema,
  type AttachedListQuery,
  type AttachFile,
  type CreateBatch,
  type UpdateAttributes,
} from './vector-store.requests.js';

const contentQuerySchema = z.object({ page: z.coerce.number().int().min(0).max(maxPosition).default(0) });

@Controller(['v1/vector_stores/:storeId/files', 'vector_stores/:storeId/files'])
export class AttachedFilesController {
  constructor(@Inject(AttachedFilesService) private readonly attached: AttachedFilesService) {}

  @Post()
  @ApiOperation({ summary: 'Attach a file to a vector store and index it', answer: vectorStoreFileSchema })
  @HttpCode(200)
  async attach(
    @Param('storeId') storeId: string,
    @Body(new SchemaPipe(attachFileSchema)) body: AttachFile,
    @Owner() owner: string,
  ) {
    return toVectorStoreFile(await this.attached.attach(owner, storeId, body));
  }

  @Get()
  @ApiOperation({ summary: 'List the files of a vector store', answer: listSchemaOf(vectorStoreFileSchema) })
  async list(
    @Param('storeId') storeId: string,
    @Query(new SchemaPipe(attachedListQuerySchema)) query: AttachedListQuery,
    @Owner() owner: string,
  ) {
    const { rows, hasMore } = await this.attached.list(owner, storeId, query);
    return listOf(rows.map(toVectorStoreFile), hasMore);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Show the state of a file in a vector store', answer: vectorStoreFileSchema })
  async find(
    @Param('storeId') storeId: string,
    @Param('id') id: string,
    @Owner() owner: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const found = toVectorStoreFile(await this.attached.find(owner, storeId, id));
    void reply.headers(pollAfter(found));
    return found;
  }

  @Post(':id')
  @ApiOperation({
    summary: 'Replace the attributes of a file in a vector store',
    answer: vectorStoreFileSchema,
  })
  @HttpCode(200)
  async update(
    @Param('storeId') storeId: string,
    @Param('id') id: string,
    @Body(new SchemaPipe(updateAttributesSchema)) { attributes }: UpdateAttributes,
    @Owner() owner: string,
  ) {
    return toVectorStoreFile(await this.attached.update(owner, storeId, id, attributes));
  }

  @Delete(':id')
  @ApiOperation({
    summary: 'Detach a file from a vector store',
    answer: deletedSchemaOf('vector_store.file.deleted'),
  })
  async delete(@Param('storeId') storeId: string, @Param('id') id: string, @Owner() owner: string) {
    await this.attached.detach(owner, storeId, id);
    return { id, object: 'vector_store.file.deleted' as const, deleted: true };
  }

  @Get(':id/content')
  @ApiOperation({ summary: 'List the passages of a file in order', answer: fileContentSchema })
  async content(
    @Param('storeId') storeId: string,
    @Param('id') id: string,
    @Query(new SchemaPipe(contentQuerySchema)) { page }: z.output<typeof contentQuerySchema>,
    @Owner() owner: string,
  ) {
    const { texts, nextPage } = await this.attached.content(owner, storeId, id, page);
    return {
      object: 'vector_store.file_content.page' as const,
      data: texts.map((text) => ({ type: 'text' as const, text })),
      has_more: nextPage !== null,
      next_page: nextPage,
    };
  }
}

@Controller(['v1/vector_stores/:storeId/file_batches', 'vector_stores/:storeId/file_batches'])
export class FileBatchesController {
  constructor(@Inject(AttachedFilesService) private readonly attached: AttachedFilesService) {}

  @Post()
  @ApiOperation({ summary: 'Attach several files as a batch', answer: fileBatchSchema })
  @HttpCode(200)
  async create(
    @Param('storeId') storeId: string,
    @Body(new SchemaPipe(createBatchSchema)) body: CreateBatch,
    @Owner() owner: string,
  ) {
    return toFileBatch(await this.attached.createBatch(owner, storeId, body));
  }

  @Get(':id')
  @ApiOperation({ summary: 'Show the state of a batch', answer: fileBatchSchema })
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
  @ApiOperation({ summary: 'Cancel the indexing of the remaining files of a batch', answer: fileBatchSchema })
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
