import { MegaNestError, parseOrThrow } from '#platform/contracts';
import { listOf, listSchemaOf, pollAfter } from '#api/openai-api';
import { metadataSchema, newId } from '#api/responses';
import { ApiOperation, Call, Owner, SchemaPipe, setDegraded, type HttpCall } from '#platform/service-kit';
import { VectorStoresRepository, type VectorStoreFields } from '#platform/storage';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AttachedFilesService, requireStore } from './attached-files.service.js';
import {
  deletedSchemaOf,
  searchResultsSchema,
  toVectorStore,
  vectorStoreSchema,
} from './vector-store-objects.js';
import { rewriteQuery } from './rewrite-query.js';
import { VectorStoreSearch } from './vector-store-search.js';
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

/** Vector stores of an owner. A store of another owner is answered with `not_found`. */
@Controller(['v1/vector_stores', 'vector_stores'])
export class VectorStoresController {
  constructor(
    @Inject(VectorStoresRepository) private readonly stores: VectorStoresRepository,
    @Inject(AttachedFilesService) private readonly attached: AttachedFilesService,
    @Inject(VectorStoreSearch) private readonly searches: VectorStoreSearch,
  ) {}

  /** Errors: not_found at `file_ids.N`, and then no store is created. */
  @Post()
  @ApiOperation({ summary: 'Create a vector store', answer: vectorStoreSchema })
  @HttpCode(200)
  async create(
    @Body(new SchemaPipe(createVectorStoreSchema)) body: CreateVectorStore,
    @Owner() owner: string,
  ) {
    const { file_ids: fileIds, chunking_strategy, name, description, metadata, expires_after } = body;
    const files = await this.attached.resolve(
      owner,
      fileIds.map((file_id) => ({ file_id, attributes: {}, chunking_strategy })),
      (index) => `file_ids[${index}]`,
    );
    const fields = {
      name: name ?? '',
      description: description ?? null,
      metadata,
      expiresDays: expires_after?.days ?? null,
    };
    const store = await this.stores.create(owner, newId('vs'), fields);
    if (files.length === 0) return toVectorStore(store);
    await this.attached.attachResolved(store.id, files);
    return toVectorStore(await requireStore(this.stores, owner, store.id, 'also expired'));
  }

  @Get()
  @ApiOperation({ summary: 'List the vector stores', answer: listSchemaOf(vectorStoreSchema) })
  async list(@Query(new SchemaPipe(storeListQuerySchema)) query: StoreListQuery, @Owner() owner: string) {
    const { rows, hasMore } = await this.stores.list(owner, query);
    return listOf(rows.map(toVectorStore), hasMore);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Show a vector store', answer: vectorStoreSchema })
  async find(
    @Param('id') id: string,
    @Owner() owner: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const found = toVectorStore(await requireStore(this.stores, owner, id, 'also expired'));
    void reply.headers(pollAfter(found));
    return found;
  }

  /** Errors: not_found; conflict for an expired store; invalid_request where the merged metadata exceeds its limits. */
  @Post(':id')
  @ApiOperation({ summary: 'Change a vector store', answer: vectorStoreSchema })
  @HttpCode(200)
  async update(
    @Param('id') id: string,
    @Body(new SchemaPipe(updateVectorStoreSchema)) changes: UpdateVectorStore,
    @Owner() owner: string,
  ) {
    await requireStore(this.stores, owner, id);
    const updated = await this.stores.update(owner, id, (fields) => merged(fields, changes));
    return toVectorStore(updated ?? unknownStore(id));
  }

  @Delete(':id')
  @ApiOperation({
    summary: 'Delete a vector store but not its files',
    answer: deletedSchemaOf('vector_store.deleted'),
  })
  async delete(@Param('id') id: string, @Owner() owner: string) {
    if (!(await this.stores.delete(owner, id))) unknownStore(id);
    return { id, object: 'vector_store.deleted' as const, deleted: true };
  }

  /** With `rewrite_query` polite phrases around the questions are removed; `search_query` is the searched text. */
  @Post(':id/search')
  @ApiOperation({ summary: 'Search a vector store', answer: searchResultsSchema })
  @HttpCode(200)
  async search(
    @Param('id') id: string,
    @Body(new SchemaPipe(searchSchema)) body: SearchVectorStore,
    @Owner() owner: string,
    @Call() call: HttpCall,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await requireStore(this.stores, owner, id);
    const queries = body.rewrite_query ? body.query.map(rewriteQuery) : body.query;
    const search = {
      owner,
      storeIds: [id],
      queries,
      filters: body.filters ?? undefined,
      maxResults: body.max_num_results,
      ranking: body.ranking_options,
    };
    const { found, degraded } = await this.searches.search(search, call);
    setDegraded(reply, degraded);
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

function merged(fields: VectorStoreFields, changes: UpdateVectorStore): VectorStoreFields {
  const { name, expires_after: expiresAfter, metadata } = changes;
  return {
    ...fields,
    ...(name !== undefined && { name: name ?? '' }),
    ...(expiresAfter !== undefined && { expiresDays: expiresAfter?.days ?? null }),
    ...(metadata !== undefined && { metadata: mergedMetadata(fields.metadata, metadata) }),
  };
}

function mergedMetadata(present: Record<string, string>, changes: Record<string, string | null> | null) {
  const entries = changes === null ? [] : Object.entries({ ...present, ...changes });
  return parseOrThrow(metadataSchema, Object.fromEntries(entries.filter(([, value]) => value !== null)));
}

function unknownStore(id: string): never {
  throw new MegaNestError('not_found', { what: `The vector store ${id}`, param: 'vector_store_id' });
}
