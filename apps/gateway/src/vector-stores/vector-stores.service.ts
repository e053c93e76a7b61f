import { MegaNestError, parseOrThrow } from '#contracts';
import { metadataSchema, newId } from '#responses';
import {
  VectorStoresRepository,
  type CursorPage,
  type StoredVectorStore,
  type VectorStoreFields,
} from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { AttachedFilesService } from './attached-files.service.js';
import { requireStore } from './expiry.js';
import type { CreateVectorStore, StoreListQuery, UpdateVectorStore } from './vector-store.requests.js';

/** Vector stores of an owner; `not_found` for everybody else's. */
@Injectable()
export class VectorStoresService {
  constructor(
    @Inject(VectorStoresRepository) private readonly stores: VectorStoresRepository,
    @Inject(AttachedFilesService) private readonly attached: AttachedFilesService,
  ) {}

  /** Errors: not_found at `file_ids.N`, and then no store is made. */
  async create(owner: string, body: CreateVectorStore): Promise<StoredVectorStore> {
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
    if (files.length === 0) return store;
    await this.attached.attachResolved(store.id, files);
    return this.find(owner, store.id);
  }

  async find(owner: string, id: string): Promise<StoredVectorStore> {
    return requireStore(this.stores, owner, id, 'also expired');
  }

  list(owner: string, query: StoreListQuery): Promise<CursorPage<StoredVectorStore>> {
    return this.stores.list(owner, query);
  }

  /** Errors: not_found; conflict for an expired store; invalid_request where metadata grow beyond their limits. */
  async update(owner: string, id: string, changes: UpdateVectorStore): Promise<StoredVectorStore> {
    await requireStore(this.stores, owner, id);
    return (await this.stores.update(owner, id, (fields) => merged(fields, changes))) ?? unknownStore(id);
  }

  async delete(owner: string, id: string): Promise<void> {
    if (!(await this.stores.delete(owner, id))) unknownStore(id);
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
