import { listOf, listSchemaOf, pollAfter } from '#openai-api';
import { ApiOperation, Call, Owner, SchemaPipe, type HttpCall } from '#service-kit';
import { VectorStoresRepository } from '#storage';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { rewriteQuery, VectorStoreSearch } from './vector-store-search.js';
import { requireStore } from './expiry.js';
import {
  deletedSchemaOf,
  searchResultsSchema,
  toVectorStore,
  vectorStoreSchema,
} from './vector-store-objects.js';
import {
  createVectorStoreSchema,
  searchSchema,
  storeListQuerySchema,
  updateVectorStoreSchema,
  type CreateVectorStore,
  type SearchVectorStore,
  type StoreListQuery,
  type UpdateVectorStore,
} from './vector-store.requests.js';
import { VectorStoresService } from './vector-stores.service.js';

@Controller(['v1/vector_stores', 'vector_stores'])
export class VectorStoresController {
  constructor(
    @Inject(VectorStoresService) private readonly stores: VectorStoresService,
    @Inject(VectorStoreSearch) private readonly searches: VectorStoreSearch,
    @Inject(VectorStoresRepository) private readonly repository: VectorStoresRepository,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Create a vector store', answer: vectorStoreSchema })
  @HttpCode(200)
  async create(
    @Body(new SchemaPipe(createVectorStoreSchema)) body: CreateVectorStore,
    @Owner() owner: string,
  ) {
    return toVectorStore(await this.stores.create(owner, body));
  }

  @Get()
  @ApiOperation({ summary: 'List the vector stores', answer: listSchemaOf(vectorStoreSchema) })
  async list(@Query(new SchemaPipe(storeListQuerySchema)) query: StoreListQuery, @Owner() owner: string) {
    const { rows, hasMore } = await this.stores.list(owner, query);
    return listOf(rows.map(toVectorStore), hasMore);
  }

  @Get(':id')
  @ApiOperation({ summary: 'A vector store', answer: vectorStoreSchema })
  async find(
    @Param('id') id: string,
    @Owner() owner: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const found = toVectorStore(await this.stores.find(owner, id));
    void reply.headers(pollAfter(found));
    return found;
  }

  @Post(':id')
  @ApiOperation({ summary: 'Change a vector store', answer: vectorStoreSchema })
  @HttpCode(200)
  async update(
    @Param('id') id: string,
    @Body(new SchemaPipe(updateVectorStoreSchema)) body: UpdateVectorStore,
    @Owner() owner: string,
  ) {
    return toVectorStore(await this.stores.update(owner, id, body));
  }

  @Delete(':id')
  @ApiOperation({
    summary: 'Delete a vector store, not its files',
    answer: deletedSchemaOf('vector_store.deleted'),
  })
  async delete(@Param('id') id: string, @Owner() owner: string) {
    await this.stores.delete(owner, id);
    return { id, object: 'vector_store.deleted' as const, deleted: true };
  }

  /** With `rewrite_query` the talk around the questions is taken out first; `search_query` says what was searched. */
  @Post(':id/search')
  @ApiOperation({ summary: 'Search a vector store', answer: searchResultsSchema })
  @HttpCode(200)
  async search(
    @Param('id') id: string,
    @Body(new SchemaPipe(searchSchema)) body: SearchVectorStore,
    @Owner() owner: string,
    @Call() call: HttpCall,
  ) {
    await requireStore(this.repository, owner, id);
    const queries = body.rewrite_query ? body.query.map(rewriteQuery) : body.query;
    const search = {
      owner,
      storeIds: [id],
      queries,
      filters: body.filters ?? undefined,
      maxResults: body.max_num_results,
      ranking: body.ranking_options,
    };
    const found = await this.searches.search(search, call);
    return {
      object: 'vector_store.search_results.page' as const,
      search_query: queries,
      data: found.map(({ file, passage, score }) => ({
        file_id: file.fileId,
        filename: file.filename,
        score,
        attributes: file.attributes,
        content: [{ type: 'text' as const, text: passage.text }],
      })),
      has_more: false,
      next_page: null,
    };
  }
}
