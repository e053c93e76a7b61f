import { invalidField, MegaNestError } from '#platform/contracts';
import { newId } from '#api/responses';
import {
  FilesRepository,
  VectorStoreFilesRepository,
  VectorStoresRepository,
  type Attributes,
  type CursorPage,
  type NewVectorStoreFile,
  type StoredFileBatch,
  type StoredVectorStore,
  type StoredVectorStoreFile,
} from '#platform/storage';
import { Inject, Injectable } from '@nestjs/common';
import {
  chunkingDefaults,
  chunkTokensOf,
  type AttachedListQuery,
  type AttachFile,
  type ChunkingDefaults,
  type CreateBatch,
} from './vector-store.requests.js';
import { FileIndexer } from './file-indexer.js';

/** Number of passages on a page of a file's content. */
const passagesPerPage = 1_000;

/** The files of vector stores and their batches. A store of another owner is answered with `not_found`. */
@Injectable()
export class AttachedFilesService {
  constructor(
    @Inject(VectorStoresRepository) private readonly stores: VectorStoresRepository,
    @Inject(VectorStoreFilesRepository) private readonly attached: VectorStoreFilesRepository,
    @Inject(FilesRepository) private readonly files: FilesRepository,
    @Inject(FileIndexer) private readonly indexer: FileIndexer,
    @Inject(chunkingDefaults) private readonly defaults: ChunkingDefaults,
  ) {}

  /** Attaches a file and starts to index it. A file that is attached already is indexed again. */
  async attach(owner: string, storeId: string, file: AttachFile): Promise<StoredVectorStoreFile> {
    await requireStore(this.stores, owner, storeId);
    await this.attachResolved(storeId, await this.resolve(owner, [file], () => 'file_id'));
    return this.find(owner, storeId, file.file_id);
  }

  /** Attaches files that were resolved before. */
  async attachResolved(
    storeId: string,
    files: readonly NewVectorStoreFile[],
    batchId?: string,
  ): Promise<void> {
    await this.attached.attach(storeId, files, batchId);
    this.indexer.wake();
  }

  /** Resolves files to attach. Errors: not_found for a file of another owner; invalid_request for a repeated file. */
  async resolve(
    owner: string,
    wanted: readonly AttachFile[],
    pathOf: (index: number) => string,
  ): Promise<NewVectorStoreFile[]> {
    if (wanted.length === 0) return [];
    const ids = wanted.map(({ file_id }) => file_id);
    const known = new Set((await this.files.findAll(owner, ids)).map(({ id }) => id));
    return wanted.map(({ file_id: fileId, attributes, chunking_strategy: strategy }, index) => {
      const param = pathOf(index);
      if (!known.has(fileId)) throw new MegaNestError('not_found', { what: `The file ${fileId}`, param });
      if (ids.indexOf(fileId) < index) throw invalidField(param, `${fileId} occurs twice`);
      return { fileId, attributes, ...chunkTokensOf(strategy, this.defaults) };
    });
  }

  async find(owner: string, storeId: string, fileId: string): Promise<StoredVectorStoreFile> {
    await requireStore(this.stores, owner, storeId, 'also expired');
    return (await this.attached.find(storeId, fileId)) ?? unknownFile(fileId);
  }

  /** Lists the files of a store, or of one batch. */
  async list(
    owner: string,
    storeId: string,
    { filter: status, ...page }: AttachedListQuery,
    batchId?: string,
  ): Promise<CursorPage<StoredVectorStoreFile>> {
    if (batchId === undefined) await requireStore(this.stores, owner, storeId, 'also expired');
    else await this.findBatch(owner, storeId, batchId);
    return this.attached.list({ vectorStoreId: storeId, batchId, status }, page);
  }

  async update(
    owner: string,
    storeId: string,
    fileId: string,
    attributes: Attributes,
  ): Promise<StoredVectorStoreFile> {
    await requireStore(this.stores, owner, storeId);
    return (await this.attached.updateAttributes(storeId, fileId, attributes)) ?? unknownFile(fileId);
  }

  async detach(owner: string, storeId: string, fileId: string): Promise<void> {
    await requireStore(this.stores, owner, storeId, 'also expired');
    if (!(await this.attached.detach(storeId, fileId))) unknownFile(fileId);
  }

  /** The passages of a file in order, and the token of the next page. Errors: conflict until the file is indexed. */
  async content(
    owner: string,
    storeId: string,
    fileId: string,
    offset: number,
  ): Promise<{ texts: string[]; nextPage: string | null }> {
    const { documentId, status } = await this.find(owner, storeId, fileId);
    if (documentId === null) {
      const detail = `The file ${fileId} has no content here: its status is ${status}.`;
      throw new MegaNestError('conflict', { detail, param: 'file_id' });
    }
    const texts = await this.attached.passages(documentId, { offset, limit: passagesPerPage + 1 });
    const more = texts.length > passagesPerPage;
    return {
      texts: texts.slice(0, passagesPerPage),
      nextPage: more ? String(offset + passagesPerPage) : null,
    };
  }

  async createBatch(owner: string, storeId: string, body: CreateBatch): Promise<StoredFileBatch> {
    await requireStore(this.stores, owner, storeId);
    const { attributes, chunking_strategy } = body;
    const named = body.file_ids?.map((file_id) => ({ file_id, attributes, chunking_strategy }));
    const path = named
      ? (index: number) => `file_ids[${index}]`
      : (index: number) => `files[${index}].file_id`;
    const files = await this.resolve(owner, named ?? body.files ?? [], path);
    const id = newId('vsfb');
    await this.attachResolved(storeId, files, id);
    return this.findBatch(owner, storeId, id);
  }

  async findBatch(owner: string, storeId: string, id: string): Promise<StoredFileBatch> {
    await requireStore(this.stores, owner, storeId, 'also expired');
    const batch = await this.attached.findBatch(storeId, id);
    if (batch) return batch;
    throw new MegaNestError('not_found', { what: `The file batch ${id}`, param: 'batch_id' });
  }

  /** Cancels the files of a batch that are not indexed yet. Indexed files stay. */
  async cancelBatch(owner: string, storeId: string, id: string): Promise<StoredFileBatch> {
    await this.findBatch(owner, storeId, id);
    await this.attached.cancelBatch(storeId, id);
    return this.findBatch(owner, storeId, id);
  }
}

function unknownFile(id: string): never {
  throw new MegaNestError('not_found', { what: `The file ${id} in this vector store`, param: 'file_id' });
}

/** The owner's store. Errors: not_found; conflict for an expired store, unless `living` is `also expired`. */
export async function requireStore(
  stores: VectorStoresRepository,
  owner: string,
  id: string,
  living: 'living' | 'also expired' = 'living',
  param = 'vector_store_id',
): Promise<StoredVectorStore> {
  const store = await stores.find(owner, id);
  if (!store) throw new MegaNestError('not_found', { what: `The vector store ${id}`, param });
  if (living === 'living' && store.status === 'expired')
    throw new MegaNestError('conflict', { detail: `The vector store ${id} has expired.`, param });
  return store;
}
