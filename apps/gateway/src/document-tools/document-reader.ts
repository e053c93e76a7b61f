import { MegaNestError, readChunks, type StoredChunk, type StoredDocument } from '#platform/contracts';
import { Dataprep } from '#api/dataprep-api';
import { RpcClient } from '#platform/messaging';
import { Inject, Injectable } from '@nestjs/common';

/** Chunks of one call. */
const pageSize = 100;
/** Maximum number of documents that are searched for a name. */
const maxNamesakes = 50;

/** Reads stored documents for tools: by id or by name, whole or from a position on. */
@Injectable()
export class DocumentReader {
  constructor(
    @Inject(Dataprep) readonly dataprep: Dataprep,
    @Inject(RpcClient) private readonly client: RpcClient,
  ) {}

  /** Finds a document by its id or by its exact name. Errors: not_found, conflict for a name of several documents. */
  async find(idOrName: string): Promise<StoredDocument> {
    try {
      return (await this.client.request(readChunks, { id: idOrName, from: 0, limit: 1 })).document;
    } catch (error) {
      if (!(error instanceof MegaNestError) || error.status !== 404) throw error;
    }
    const listed = await this.dataprep.list({ search: idOrName.slice(0, 255), limit: maxNamesakes });
    const named = listed.filter(({ filename, source }) => filename === idOrName || source === idOrName);
    const [first, second] = named;
    if (!first) throw new MegaNestError('not_found', { what: `The document ${idOrName}`, param: 'document' });
    if (!second) return first;
    const ids = named.map(({ id, collection }) => `${id} (collection ${collection})`).join(', ');
    throw new MegaNestError('conflict', {
      detail: `document: several documents have this name; send an id: ${ids}`,
      param: 'document',
    });
  }

  /** The chunks of a document from one position up to another one, inclusive. */
  async read(id: string, from: number, to: number): Promise<StoredChunk[]> {
    const read: StoredChunk[] = [];
    for await (const chunks of this.pages(id, from)) {
      read.push(...chunks.filter(({ index }) => index <= to));
      if ((chunks.at(-1)?.index ?? to) >= to) break;
    }
    return read;
  }

  /** All chunks of a document in order, in pages. */
  async *pages(id: string, from = 0): AsyncGenerator<StoredChunk[]> {
    for (let at = from, hasMore = true; hasMore;) {
      const page = await this.client.request(readChunks, { id, from: at, limit: pageSize });
      yield page.chunks;
      const last = page.chunks.at(-1);
      hasMore = page.has_more && last !== undefined;
      at = (last?.index ?? at) + 1;
    }
  }
}
