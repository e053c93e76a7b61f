import { randomUUID } from 'node:crypto';
import { defaultCollection, type StoredDocument } from '#contracts';
import { insertChunks, type NewChunk } from './chunk-writer.js';
import type { Database } from './database.js';
import { toPostgresJson } from './postgres-text.js';
import { analyzeIfGrown } from './statistics.js';
import type { SqlValue, Transaction } from './transaction.js';
import { ensureVectorIndex } from './vector-index.js';

export interface NewDocument {
  /** A UUID; made where absent. */
  id?: string;
  collection?: string;
  filename: string;
  /** The link it was read from. */
  source?: string;
  /**
   * Hash of all that decides its chunks: bytes, chunking parameters, attributes. The same hash and embedding model
   * under the same name mean that nothing is to be done.
   */
  contentHash: string;
  mimeType: string;
  bytes: number;
  /** The user's attributes; every chunk carries them too, so that filters match. */
  metadata?: Record<string, unknown>;
  embeddingModel: string;
}

export interface ReplaceOutcome {
  documentId: string;
  chunks: number;
  outcome: 'added' | 'replaced' | 'unchanged';
}

/** What tells whether a document has to be read, chunked and embedded again. */
export interface DocumentVersion {
  id: string;
  contentHash: string;
  embeddingModel: string;
  chunks: number;
}

export interface DocumentCounts {
  documents: number;
  chunks: number;
}

interface StoredDocumentRow {
  id: string;
  filename: string;
  source: string | null;
  collection: string;
  chunks: number;
  bytes: string;
  created_at: Date;
}

/** Documents and their chunks. Every method is one transaction: a reader sees a document whole or not at all. */
export class DocumentsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Stores a document with its chunks in place of the one of the same name in its collection, or leaves everything
   * as it is where the same content is there. Two uploads of one name wait for each other; the later one stays.
   * Errors: invalid_request for unusable or unequal embeddings, service_unavailable.
   */
  async replaceDocument(document: NewDocument, chunks: readonly NewChunk[]): Promise<ReplaceOutcome> {
    const dimensions = chunks[0]?.embedding.length ?? 0;
    if (dimensions > 0) await ensureVectorIndex(this.database, dimensions);
    const outcome = await this.database.transaction(async (transaction) => {
      const collection = document.collection ?? defaultCollection;
      const filename = document.filename;
      await transaction.query('SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))', [
        collection,
        filename,
      ]);
      const present = await findVersion(transaction, collection, filename);
      if (present && isSame(present, document)) {
        return { documentId: present.id, chunks: present.chunks, outcome: 'unchanged' as const };
      }
      if (present) await transaction.execute('DELETE FROM documents WHERE id = $1', [present.id]);
      const stored = { ...document, id: document.id ?? randomUUID(), collection, filename };
      await insertDocument(transaction, stored, dimensions);
      await insertChunks(transaction, stored, chunks);
      const outcome = present ? ('replaced' as const) : ('added' as const);
      return { documentId: stored.id, chunks: chunks.length, outcome };
    });
    if (outcome.outcome !== 'unchanged') await analyzeIfGrown(this.database);
    return outcome;
  }

  /** The document of that name, if there is one: compare its hash before embedding anything. */
  async findVersion(filename: string, collection = defaultCollection): Promise<DocumentVersion | undefined> {
    return this.database.transaction((transaction) => findVersion(transaction, collection, filename));
  }

  /** Newest first; all collections where none is named. */
  async list(collection?: string): Promise<StoredDocument[]> {
    const rows = await this.database.transaction((transaction) =>
      transaction.query<StoredDocumentRow>(
        `SELECT id, filename, source, collection, chunk_count AS chunks, bytes, created_at FROM documents
         WHERE $1::text IS NULL OR collection = $1 ORDER BY created_at DESC, filename`,
        [collection ?? null],
      ),
    );
    return rows.map(({ created_at, bytes, ...row }) => ({
      ...row,
      bytes: Number(bytes),
      createdAt: created_at.toISOString(),
    }));
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

  /** Names of the collections that hold documents, in order. */
  async collections(): Promise<string[]> {
    const rows = await this.database.transaction((transaction) =>
      transaction.query<{ collection: string }>(
        'SELECT DISTINCT collection FROM documents ORDER BY collection',
      ),
    );
    return rows.map((row) => row.collection);
  }

  /** How much a collection holds; all of them where none is named. */
  async count(collection?: string): Promise<DocumentCounts> {
    const [row] = await this.database.transaction((transaction) =>
      transaction.query<{ documents: string; chunks: string }>(
        `SELECT count(*) AS documents, coalesce(sum(chunk_count), 0) AS chunks FROM documents
         WHERE $1::text IS NULL OR collection = $1`,
        [collection ?? null],
      ),
    );
    return { documents: Number(row?.documents), chunks: Number(row?.chunks) };
  }

  private delete(condition: string, values: SqlValue[]): Promise<number> {
    return this.database.transaction((transaction) =>
      transaction.execute(`DELETE FROM documents WHERE ${condition}`, values),
    );
  }
}

function isSame(present: DocumentVersion, document: NewDocument): boolean {
  return present.contentHash === document.contentHash && present.embeddingModel === document.embeddingModel;
}

async function findVersion(
  transaction: Transaction,
  collection: string,
  filename: string,
): Promise<DocumentVersion | undefined> {
  const [row] = await transaction.query<DocumentVersion>(
    `SELECT id, content_hash AS "contentHash", embedding_model AS "embeddingModel", chunk_count AS chunks
     FROM documents WHERE collection = $1 AND filename = $2`,
    [collection, filename],
  );
  return row;
}

async function insertDocument(
  transaction: Transaction,
  document: NewDocument & { id: string; collection: string },
  dimensions: number,
): Promise<void> {
  await transaction.execute(
    `INSERT INTO documents (id, collection, filename, source, content_hash, mime_type, bytes, metadata,
                            embedding_model, embedding_dimensions)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      document.id,
      document.collection,
      document.filename,
      document.source ?? null,
      document.contentHash,
      document.mimeType,
      document.bytes,
      toPostgresJson(document.metadata ?? {}),
      document.embeddingModel,
      dimensions,
    ],
  );
}
