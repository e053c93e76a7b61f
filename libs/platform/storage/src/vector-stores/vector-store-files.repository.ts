import { readCursorPage, type CursorPage, type CursorRequest } from '../cursor.js';
import type { Database } from '../database.js';
import { toPostgresJson, type Transaction } from '../transaction.js';

export type IndexingStatus = 'in_progress' | 'completed' | 'failed' | 'cancelled';
export type Attributes = Record<string, string | number | boolean>;

/** How many of a store's or a batch's files have come how far. */
export interface FileCounts {
  in_progress: number;
  completed: number;
  failed: number;
  cancelled: number;
  total: number;
}

/** A file in a vector store. */
export interface StoredVectorStoreFile {
  vectorStoreId: string;
  fileId: string;
  filename: string;
  status: IndexingStatus;
  attributes: Attributes;
  chunkTokens: number;
  overlapTokens: number;
  /** The document that its passages belong to, once it is indexed. */
  documentId: string | null;
  usageBytes: number;
  error: { code: string; message: string } | null;
  createdAt: Date;
}

/** A file that is to be attached. */
export interface NewVectorStoreFile {
  fileId: string;
  attributes: Attributes;
  chunkTokens: number;
  overlapTokens: number;
}

export interface StoredFileBatch {
  id: string;
  vectorStoreId: string;
  cancelled: boolean;
  createdAt: Date;
  fileCounts: FileCounts;
}

/** SQL of {@link FileCounts} as one json over rows of `vector_store_files`. */
export const countsColumn = `json_build_object(
  'in_progress', count(*) FILTER (WHERE attached.status = 'in_progress'),
  'completed', count(*) FILTER (WHERE attached.status = 'completed'),
  'failed', count(*) FILTER (WHERE attached.status = 'failed'),
  'cancelled', count(*) FILTER (WHERE attached.status = 'cancelled'),
  'total', count(attached.file_id))`;

const columns = `vector_store_id AS "vectorStoreId", file_id AS "fileId", status, attributes,
  chunk_tokens AS "chunkTokens", overlap_tokens AS "overlapTokens", document_id AS "documentId",
  usage_bytes::float8 AS "usageBytes", created_at AS "createdAt",
  (SELECT filename FROM files WHERE files.id = file_id) AS filename,
  CASE WHEN error_code IS NOT NULL
    THEN json_build_object('code', error_code, 'message', coalesce(error_message, '')) END AS error`;

/** Which files of a store are listed. */
interface AttachedFilter {
  vectorStoreId: string;
  batchId?: string;
  status?: IndexingStatus;
}

/**
 * The files of vector stores. Whoever asks has made sure that the store belongs to its owner: ids of stores are the
 * only key here.
 */
export class VectorStoreFilesRepository {
  constructor(private readonly database: Database) {}

  /**
   * Attaches files to be indexed, in a batch where it has an id. A file that is attached already is indexed again, and
   * its passages stay until the new ones are there. The store counts as used.
   */
  async attach(vectorStoreId: string, files: readonly NewVectorStoreFile[], batchId?: string): Promise<void> {
    await this.database.transaction(async (transaction) => {
      await transaction.execute('UPDATE vector_stores SET last_active_at = now() WHERE id = $1', [
        vectorStoreId,
      ]);
      if (batchId !== undefined)
        await transaction.execute('INSERT INTO vector_store_batches (id, vector_store_id) VALUES ($1, $2)', [
          batchId,
          vectorStoreId,
        ]);
      for (const file of files) await attachOne(transaction, vectorStoreId, file, batchId ?? null);
    });
  }

  async find(vectorStoreId: string, fileId: string): Promise<StoredVectorStoreFile | undefined> {
    const [file] = await this.database.query<StoredVectorStoreFile>(
      `SELECT ${columns} FROM vector_store_files WHERE vector_store_id = $1 AND file_id = $2`,
      [vectorStoreId, fileId],
    );
    return file;
  }

  /** The indexed files that documents belong to, by the document's id. */
  async findByDocuments(documentIds: readonly string[]): Promise<Map<string, StoredVectorStoreFile>> {
    const rows = await this.database.query<StoredVectorStoreFile>(
      `SELECT ${columns} FROM vector_store_files WHERE document_id = ANY($1::uuid[])`,
      [documentIds],
    );
    return new Map(rows.map((file) => [file.documentId!, file]));
  }

  /** Errors: invalid_request for an unknown cursor. */
  async list(
    { vectorStoreId, batchId, status }: AttachedFilter,
    page: CursorRequest,
  ): Promise<CursorPage<StoredVectorStoreFile>> {
    const list = {
      table: 'vector_store_files',
      idColumn: 'file_id',
      columns,
      condition:
        'vector_store_id = $1 AND ($2::text IS NULL OR batch_id = $2) AND ($3::text IS NULL OR status = $3)',
      values: [vectorStoreId, batchId ?? null, status ?? null],
    } as const;
    return this.database.transaction((transaction) =>
      readCursorPage<StoredVectorStoreFile>(transaction, list, page),
    );
  }

  /** Replaces the attributes, also for the filters of searches. */
  async updateAttributes(
    vectorStoreId: string,
    fileId: string,
    attributes: Attributes,
  ): Promise<StoredVectorStoreFile | undefined> {
    const json = toPostgresJson(attributes);
    return this.database.transaction(async (transaction) => {
      const [changed] = await transaction.query<StoredVectorStoreFile>(
        `UPDATE vector_store_files SET attributes = $3 WHERE vector_store_id = $1 AND file_id = $2 RETURNING ${columns}`,
        [vectorStoreId, fileId, json],
      );
      if (changed?.documentId)
        await transaction.execute('UPDATE documents SET metadata = $2 WHERE id = $1', [
          changed.documentId,
          json,
        ]);
      return changed;
    });
  }

  /** Takes a file out of a store, with its passages; the file itself stays. */
  async detach(vectorStoreId: string, fileId: string): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      const [row] = await transaction.query<{ document_id: string | null }>(
        'DELETE FROM vector_store_files WHERE vector_store_id = $1 AND file_id = $2 RETURNING document_id',
        [vectorStoreId, fileId],
      );
      if (row?.document_id)
        await transaction.execute('DELETE FROM documents WHERE id = $1', [row.document_id]);
      return row !== undefined;
    });
  }

  async findBatch(vectorStoreId: string, id: string): Promise<StoredFileBatch | undefined> {
    const [batch] = await this.database.query<StoredFileBatch>(
      `SELECT batch.id, batch.vector_store_id AS "vectorStoreId", batch.cancelled, batch.created_at AS "createdAt",
              ${countsColumn} AS "fileCounts"
       FROM vector_store_batches AS batch LEFT JOIN vector_store_files AS attached ON attached.batch_id = batch.id
       WHERE batch.vector_store_id = $1 AND batch.id = $2 GROUP BY batch.id`,
      [vectorStoreId, id],
    );
    return batch;
  }

  /**
   * Cancels the files of a batch that are not indexed yet; their workers notice. A batch that has ended does not
   * change.
   */
  async cancelBatch(vectorStoreId: string, id: string): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const stopped = await transaction.execute(
        `UPDATE vector_store_files SET status = 'cancelled', lease_owner = NULL
         WHERE vector_store_id = $1 AND batch_id = $2 AND status = 'in_progress'`,
        [vectorStoreId, id],
      );
      if (stopped > 0)
        await transaction.execute('UPDATE vector_store_batches SET cancelled = true WHERE id = $1', [id]);
    });
  }

  /** The texts of the passages that a file was cut into, in order, a page at a time. */
  async passages(
    documentId: string,
    { offset, limit }: { offset: number; limit: number },
  ): Promise<string[]> {
    const rows = await this.database.query<{ text: string }>(
      'SELECT text FROM chunks WHERE document_id = $1 AND position >= $2 ORDER BY position LIMIT $3',
      [documentId, offset, limit],
    );
    return rows.map(({ text }) => text);
  }
}

async function attachOne(
  transaction: Transaction,
  vectorStoreId: string,
  { fileId, attributes, chunkTokens, overlapTokens }: NewVectorStoreFile,
  batchId: string | null,
): Promise<void> {
  await transaction.execute(
    `INSERT INTO vector_store_files
       (vector_store_id, file_id, batch_id, status, attributes, chunk_tokens, overlap_tokens)
     VALUES ($1, $2, $3, 'in_progress', $4, $5, $6)
     ON CONFLICT (vector_store_id, file_id) DO UPDATE SET batch_id = $3, status = 'in_progress', attributes = $4,
       chunk_tokens = $5, overlap_tokens = $6, error_code = NULL, error_message = NULL, attempts = 0,
       lease_owner = NULL, lease_until = now(), created_at = now()`,
    [vectorStoreId, fileId, batchId, toPostgresJson(attributes), chunkTokens, overlapTokens],
  );
}
