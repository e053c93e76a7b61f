import { randomUUID } from 'node:crypto';
import { defaultCollection, type StoredChunk, type StoredDocument } from '#contracts';
import { requireFittingEmbeddings, type NewChunk } from './chunk-writer.js';
import type { Database } from '../database.js';
import { DocumentRoom, type DocumentVersion, type NewDocument, type ReplaceOutcome } from './document.js';
import {
  chunksPerTransaction,
  findVersions,
  writeInParts,
  type DocumentName,
  type WrittenDocument,
} from './document-writer.js';
import { GroupedCalls } from './grouped-calls.js';
import { smallDocuments } from './small-documents.js';
import { analyzeIfGrown } from '../statistics.js';
import type { SqlValue } from '../transaction.js';
import { BackgroundIndexer } from '../background-indexer.js';

export interface DocumentCounts {
  documents: number;
  chunks: number;
}

type StoredDocumentRow = Omit<StoredDocument, 'createdAt'> & { createdAt: Date };

/** Documents of vector stores belong to the owner of the store: they are not listed, and not deleted by name or id. */
const isShared = 'owner IS NULL';

/** Documents that are looked up in one statement. */
const mostVersions = 100;

const listedColumns = `id, filename, source, collection, chunk_count AS chunks, bytes::float8 AS bytes,
  created_at AS "createdAt"`;

/** Which documents a list holds; absent fields do not narrow it. */
export interface DocumentPage {
  collection?: string;
  /** Part of a file name, in any case. */
  search?: string;
  offset?: number;
  limit?: number;
}

function toStoredDocument(row: StoredDocumentRow): StoredDocument {
  return { ...row, createdAt: row.createdAt.toISOString() };
}

/** Documents and their chunks. A reader sees a document whole or not at all. */
export class DocumentsRepository {
  readonly #room: DocumentRoom;
  readonly #small: ReturnType<typeof smallDocuments>;
  readonly #versions: GroupedCalls<DocumentName, DocumentVersion | undefined>;
  /** Indexes what is stored, in the background. */
  readonly indexer: BackgroundIndexer;

  /** `maxBytes`: of the passages and vectors of one owner, or of those that all share; 0: no bound. */
  constructor(
    private readonly database: Database,
    maxBytes = 0,
  ) {
    this.#room = new DocumentRoom(maxBytes);
    this.indexer = new BackgroundIndexer(database);
    this.#small = smallDocuments(database);
    this.#versions = new GroupedCalls({
      maxRunning: 2,
      joins: () => {
        let names = 0;
        return () => (names += 1) <= mostVersions;
      },
      work: (names) => database.transaction((transaction) => findVersions(transaction, names)),
    });
  }

  /**
   * Stores a document with its chunks in place of the one of the same name in its collection, or leaves everything
   * as it is where the same content is there. Of two uploads of one name the one that ends later stays. Chunks may come
   * batch by batch: a large document is written while its later chunks are made, in several transactions, so that
   * others get their turn in between (PGlite has one session); it shows only with the last one, which also removes its
   * predecessor. Errors: invalid_request for unusable or unequal embeddings, payload_too_large, service_unavailable; those
   * of the chunks' source.
   */
  async replaceDocument(
    document: NewDocument,
    chunks: readonly NewChunk[] | AsyncIterable<readonly NewChunk[]>,
  ): Promise<ReplaceOutcome> {
    const { collection = defaultCollection, id = randomUUID() } = document;
    const stored = { ...document, id, collection, room: this.#room };
    let [written, dimensions] = [0, 0];
    const parts = partsOf(chunks, (batch) => {
      written += batch.length;
      dimensions = batch[0]?.embedding.length ?? dimensions;
    });
    try {
      const outcome = await this.#write(stored, parts);
      if (outcome.outcome !== 'unchanged' && written > 0) {
        await analyzeIfGrown(this.database, written);
        this.indexer.stored({ collection, dimensions }, written);
      }
      return outcome;
    } finally {
      await parts.return();
    }
  }

  async #write(document: WrittenDocument, parts: AsyncGenerator<NewChunk[], void, void>) {
    const first = await parts.next();
    const chunks = first.value ?? [];
    const second = await parts.next();
    if (second.done) return this.#small.call({ document, chunks });
    return writeInParts(this.database, document, following([chunks, second.value], parts));
  }

  /** The document of that name, if there is one: compare its hash before embedding anything. */
  async findVersion({
    filename,
    collection = defaultCollection,
    owner,
  }: Pick<NewDocument, 'filename' | 'collection' | 'owner'>): Promise<DocumentVersion | undefined> {
    return this.#versions.call({ collection, owner, filename });
  }

  /** Newest first; all collections where none is named. */
  async list({ collection, search, offset, limit }: DocumentPage = {}): Promise<StoredDocument[]> {
    const rows = await this.database.query<StoredDocumentRow>(
      `SELECT ${listedColumns} FROM documents
       WHERE pending_since IS NULL AND ${isShared} AND ($1::text IS NULL OR collection = $1)
         AND ($2::text IS NULL OR strpos(lower(filename), lower($2)) > 0)
       ORDER BY created_at DESC, filename, id OFFSET $3 LIMIT $4`,
      [collection ?? null, search ?? null, offset ?? 0, limit ?? null],
    );
    return rows.map(toStoredDocument);
  }

  /** A document with `limit` of its chunks from a position on; undefined where there is none of that id. */
  async readChunks(
    id: string,
    from: number,
    limit: number,
  ): Promise<{ document: StoredDocument; chunks: StoredChunk[] } | undefined> {
    return this.database.transaction(async (transaction) => {
      const [row] = await transaction.query<StoredDocumentRow>(
        `SELECT ${listedColumns} FROM documents
         WHERE id::text = lower($1) AND pending_since IS NULL AND ${isShared}`,
        [id],
      );
      if (!row) return undefined;
      const chunks = await transaction.query<StoredChunk>(
        `SELECT id, position AS index, text, metadata FROM chunks
         WHERE document_id = $1 AND position >= $2 ORDER BY position LIMIT $3`,
        [row.id, from, limit],
      );
      return { document: toStoredDocument(row), chunks };
    });
  }

  /** Answers how many documents went: 0 or 1. */
  async deleteByFilename(filename: string, collection = defaultCollection): Promise<number> {
    return this.delete('filename = $1 AND collection = $2', [filename, collection]);
  }

  /** Answers how many documents went: 0 or 1; what is no UUID matches none. */
  async deleteById(id: string): Promise<number> {
    return this.delete('id::text = lower($1)', [id]);
  }

  /** Deletes every document of a collection; answers how many went. */
  async deleteAll(collection = defaultCollection): Promise<number> {
    return this.delete('collection = $1', [collection]);
  }

  /** The collections that hold documents, in the order of their names, and how many documents each holds. */
  async collections(): Promise<{ name: string; documents: number }[]> {
    return this.database.query<{ name: string; documents: number }>(
      `SELECT collection AS name, count(*)::float8 AS documents FROM documents
       WHERE pending_since IS NULL AND ${isShared} GROUP BY collection ORDER BY collection`,
    );
  }

  /** How much a collection holds; all of them where none is named. */
  async count(collection?: string): Promise<DocumentCounts> {
    const [counts] = await this.database.query<DocumentCounts>(
      `SELECT count(*)::float8 AS documents, coalesce(sum(chunk_count), 0)::float8 AS chunks FROM documents
       WHERE pending_since IS NULL AND ($1::text IS NULL OR collection = $1)`,
      [collection ?? null],
    );
    return counts!;
  }

  private delete(condition: string, values: SqlValue[]): Promise<number> {
    return this.database.execute(
      `DELETE FROM documents WHERE pending_since IS NULL AND ${isShared} AND ${condition}`,
      values,
    );
  }
}

/** Groups chunks into parts of one transaction each and checks their vectors; tells of each batch. */
async function* partsOf(
  chunks: readonly NewChunk[] | AsyncIterable<readonly NewChunk[]>,
  onBatch: (batch: readonly NewChunk[]) => void,
): AsyncGenerator<NewChunk[], void, void> {
  const batches = Symbol.asyncIterator in chunks ? chunks : [chunks];
  let waiting: NewChunk[] = [];
  let count = 0;
  let dimensions: number | undefined;
  for await (const batch of batches) {
    dimensions ??= batch[0]?.embedding.length;
    requireFittingEmbeddings(batch, { first: count, dimensions: dimensions ?? 0 });
    count += batch.length;
    onBatch(batch);
    waiting.push(...batch);
    for (; waiting.length > chunksPerTransaction; waiting = waiting.slice(chunksPerTransaction))
      yield waiting.slice(0, chunksPerTransaction);
  }
  if (waiting.length > 0) yield waiting;
}

async function* following<Item>(
  first: readonly Item[],
  rest: AsyncIterable<Item>,
): AsyncGenerator<Item, void, void> {
  yield* first;
  yield* rest;
}
