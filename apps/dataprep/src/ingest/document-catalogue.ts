import {
  defaultCollection,
  maxExtractedCharacters,
  MegaNestError,
  type DocumentChunks,
  type StoredDocument,
} from '#contracts';
import type { DocumentPage, DocumentsRepository } from '#storage';
import { nameOfLink } from './sources.js';

/** Lists and deletes what was ingested. */
export class DocumentCatalogue {
  constructor(private readonly documents: DocumentsRepository) {}

  /** Newest first; of all collections where none is named. */
  list(which: DocumentPage): Promise<StoredDocument[]> {
    return this.documents.list(which);
  }

  /** As many chunks as fit into one message. Errors: not_found. */
  async readChunks(id: string, from: number, limit: number): Promise<DocumentChunks> {
    const found = await this.documents.readChunks(id, from, limit);
    if (!found) throw new MegaNestError('not_found', { what: `The document ${id}`, param: 'id' });
    const { document } = found;
    let characters = 0;
    // The first one is always there: a reader gets on, however long it is.
    const chunks = found.chunks.filter(({ text }, position) => {
      characters += text.length;
      return position === 0 || characters <= maxExtractedCharacters;
    });
    return { document, chunks, has_more: from + chunks.length < document.chunks };
  }

  /** The collections that hold documents, and how many each holds. */
  collections(): Promise<{ name: string; documents: number }[]> {
    return this.documents.collections();
  }

  /**
   * Deletes by file name, link or document id, or all of a collection with `all`; answers how many documents went.
   * Errors: not_found, except for `all`.
   */
  async delete(filePath: string, collection = defaultCollection): Promise<number> {
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
}

/** A link may be given in another form than the one that it is stored under. */
function namesOf(filePath: string): string[] {
  return URL.canParse(filePath) ? [filePath, nameOfLink(filePath)] : [filePath];
}
