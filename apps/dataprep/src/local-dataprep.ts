import {
  defaultCollection,
  maxExtractedCharacters,
  MegaNestError,
  type DocumentChunks,
  type IngestProgress,
  type OriginalFile,
  type StoredDocument,
} from '#platform/contracts';
import { Dataprep, type IngestRequest, type ListedDocuments } from '#api/dataprep-api';
import { DocumentsRepository, OriginalsRepository } from '#platform/storage';
import { Inject, Injectable } from '@nestjs/common';
import { IngestJobs } from './ingest/ingest-jobs.js';
import { IngestService, type IngestCall } from './ingest/ingest.service.js';
import { Reembedding } from './ingest/reembedding.js';
import { nameOfLink } from './ingest/sources.js';

/** Data preparation in this process, for the HTTP API and the NATS methods. */
@Injectable()
export class LocalDataprep extends Dataprep {
  constructor(
    @Inject(IngestService) private readonly ingests: IngestService,
    @Inject(IngestJobs) override readonly jobs: IngestJobs,
    @Inject(DocumentsRepository) private readonly documents: DocumentsRepository,
    @Inject(OriginalsRepository) private readonly originals: OriginalsRepository,
    @Inject(Reembedding) override readonly reembedding: Reembedding,
  ) {
    super();
  }

  override ingest(request: IngestRequest, call: IngestCall): AsyncIterable<IngestProgress> {
    return this.ingests.ingest(request, call);
  }

  /** Lists documents, newest first; without a collection, the documents of all collections. */
  override list(which: ListedDocuments): Promise<StoredDocument[]> {
    return this.documents.list(which);
  }

  /** Reads as many chunks as fit into one message. Errors: not_found. */
  override async readChunks(id: string, from: number, limit: number): Promise<DocumentChunks> {
    const found = await this.documents.readChunks(id, from, limit);
    if (!found) throw new MegaNestError('not_found', { what: `The document ${id}`, param: 'id' });
    const { document } = found;
    let characters = 0;
    // The first chunk is always included, so that the reader makes progress even if this chunk is too long.
    const chunks = found.chunks.filter(({ text }, position) => {
      characters += text.length;
      return position === 0 || characters <= maxExtractedCharacters;
    });
    return { document, chunks, has_more: from + chunks.length < document.chunks };
  }

  /** Errors: not_found, also for a document whose file is not kept. */
  override async readOriginal(id: string, start: number): Promise<OriginalFile> {
    const piece = await this.originals.readPiece(id, start);
    if (!piece)
      throw new MegaNestError('not_found', { what: `The original file of the document ${id}`, param: 'id' });
    return { ...piece, content: piece.content.toString('base64') };
  }

  /**
   * Deletes documents by file name, link or document id; `all` deletes every document of the collection. Returns the
   * number of deleted documents. Errors: not_found, except for `all`.
   */
  override async delete(filePath: string, collection = defaultCollection): Promise<number> {
    if (filePath === 'all') return this.documents.deleteAll(collection);
    for (const name of namesOf(filePath)) {
      const deleted = await this.documents.deleteByFilename(name, collection);
      if (deleted > 0) return deleted;
    }
    const deleted = await this.documents.deleteById(filePath);
    if (deleted > 0) return deleted;
    const what = `A document ${filePath} in the collection ${collection}`;
    throw new MegaNestError('not_found', { what, param: 'file_path' });
  }

  override async collections(): Promise<string[]> {
    return (await this.documents.collections()).map(({ name }) => name);
  }
}

/** Names under which a document may be stored. The caller may write a link in another form than the stored one. */
function namesOf(filePath: string): string[] {
  return URL.canParse(filePath) ? [filePath, nameOfLink(filePath)] : [filePath];
}
