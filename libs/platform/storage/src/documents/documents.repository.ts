import { randomUUID } from 'node:crypto';
import { defaultCollection, type StoredChunk, type StoredDocument } from '#platform/contracts';
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
import {
  listedColumns,
  toStoredDocument,
  type DocumentCounts,
  type DocumentPage,
  type StoredDocumentRow,
} from './listed-document.js';

/** Documents whose vectors are of another embedding model. */
export interface OtherModel {
  model: string;
  documents: number;
  collections: string[];
}

/** Documents of vector stores belong to the owner of the store: lists and deletions by name or id exclude them. */
const isShared = 'owner IS NULL';

/** Documents that are looked up in one statement. */
const maxVersions = 100;

/** Documents and their chunks. A reader sees only complete documents. */
export class DocumentsRepository {
  readonly #room: DocumentRoom;
  readonly #small: ReturnType<typeof smallDocuments>;
  readonly #versions: GroupedCalls<DocumentName, DocumentVersion | undefined>;
  /** Indexes stored chunks in the background. */
  readonly indexer: BackgroundIndexer;

  /** `maxBytes`: limit for the passages and vectors of one owner, or of all shared documents; 0: unlimited. */
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
        return () => (names += 1) <= maxVersions;
      },
      work: (names) => database.transaction((transaction) => findVersions(transaction, names)),
    });
  }

  /**
   * Stores a document with its chunks in place of the document with the same name in its collection. Does not change
   * anything if the same content is already stored. Of two uploads of one name the one that ends later stays. Chunks
   * may come batch by batch: a large document is written in several transactions while its later chunks are made, so
   * that other requests run in between (PGlite has one session). It becomes visible in the last transaction, which also
   * removes its earlier version. Errors: invalid_request for unusable or unequal embeddings, payload_too_large,
   * service_unavailable, and the errors of the chunks' source.
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

  /** Returns the document with that name, if any: compare its hash before embedding. */
  async findVersion({
    filename,
    collection = defaultCollection,
    owner,
  }: Pick<NewDocument, 'filename' | 'collection' | 'owner'>): Promise<DocumentVersion | undefined> {
    return this.#versions.call({ collection, owner, filename });
  }

  /** Newest first; of all collections if `collection` is absent. */
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

  /** Returns a document with `limit` of its chunks from a position on; undefined for an unknown id. */
  async readChunks(
    id: string,
    from: number,
    limit: number,
  ): Promise<{ document: StoredDocument; chunks: StoredChunk[] } | undefined> {
    return this.database.transaction(async (transaction) => {
      const [row] = await transaction.query<StoredDocumentRow>(
        `SELECT ${listedColumns}, reading FROM documents
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

  /** Returns the number of deleted documents: 0 or 1. */
  async deleteByFilename(filename: string, collection = defaultCollection): Promise<number> {
    return this.delete('filename = $1 AND collection = $2', [filename, collection]);
  }

  /** Returns the number of deleted documents: 0 or 1. An id that is not a UUID does not match. */
  async deleteById(id: string): Promise<number> {
    return this.delete('id::text = lower($1)', [id]);
  }

  /** Deletes every document of a collection; returns their number. */
  async deleteAll(collection = defaultCollection): Promise<number> {
    return this.delete('collection = $1', [collection]);
  }

  /** The collections with documents, ordered by name, and the number of documents of each. */
  async collections(): Promise<{ name: string; documents: number }[]> {
    return this.database.query<{ name: string; documents: number }>(
      `SELECT collection AS name, count(*)::float8 AS documents FROM documents
       WHERE pending_since IS NULL AND ${isShared} GROUP BY collection ORDER BY collection`,
    );
  }

  /** The documents with vectors of other embedding models, by model. Vector stores count as one collection. */
  async otherModels(model: string): Promise<OtherModel[]> {
    return this.database.query<OtherModel>(
      `SELECT embedding_model AS model, count(*)::float8 AS documents, array_agg(DISTINCT name ORDER BY name) AS collections
       FROM (SELECT embedding_model, CASE WHEN ${isShared} THEN collection ELSE 'vector stores' END AS name
             FROM documents WHERE embedding_model <> $1 AND pending_since IS NULL AND chunk_count > 0) AS foreign_documents
       GROUP BY embedding_model ORDER BY embedding_model`,
      [model],
    );
  }

  /** Counts of a collection, or of all collections if it is absent. */
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

/** Groups chunks into parts of one transaction each, checks their vectors, and reports each batch. */
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
