import type { Database } from '../database.js';
import type { Attributes } from './vector-store-files.repository.js';

/** A file that a process is to index. */
export interface IndexingTask {
  vectorStoreId: string;
  fileId: string;
  owner: string;
  filename: string;
  mimeType: string;
  bytes: number;
  attributes: Attributes;
  chunkTokens: number;
  overlapTokens: number;
  /** How often it was begun, this time included. */
  attempts: number;
}

type TaskKey = Pick<IndexingTask, 'vectorStoreId' | 'fileId'>;

/**
 * Who indexes which file. A lease is held by a heartbeat; one that ran out, because its process died, is claimed by
 * any process. An outcome is written only while the lease is the caller's own.
 */
export class IndexingLeasesRepository {
  constructor(private readonly database: Database) {}

  /** Takes files that wait, the oldest first. */
  async claim(leaseOwner: string, leaseMs: number, limit: number): Promise<IndexingTask[]> {
    return this.database.query<IndexingTask>(
      `WITH claimed AS (
         UPDATE vector_store_files SET lease_owner = $1, lease_until = now() + make_interval(secs => $2),
                attempts = attempts + 1
         WHERE (vector_store_id, file_id) IN (
           SELECT vector_store_id, file_id FROM vector_store_files
           WHERE status = 'in_progress' AND lease_until <= now()
           ORDER BY position LIMIT $3 FOR UPDATE SKIP LOCKED)
         RETURNING *)
       SELECT claimed.vector_store_id AS "vectorStoreId", claimed.file_id AS "fileId", claimed.attributes,
              claimed.chunk_tokens AS "chunkTokens", claimed.overlap_tokens AS "overlapTokens", claimed.attempts,
              files.owner, files.filename, files.mime_type AS "mimeType", files.bytes::float8 AS bytes
       FROM claimed JOIN files ON files.id = claimed.file_id ORDER BY claimed.position`,
      [leaseOwner, leaseMs / 1_000, limit],
    );
  }

  /** Prolongs a lease; false where it is lost, because the file was cancelled, detached, deleted or taken over. */
  async heartbeat(leaseOwner: string, { vectorStoreId, fileId }: TaskKey, leaseMs: number): Promise<boolean> {
    return this.#update(
      `UPDATE vector_store_files SET lease_until = now() + make_interval(secs => $4)
       WHERE vector_store_id = $1 AND file_id = $2 AND lease_owner = $3 AND status = 'in_progress'`,
      [vectorStoreId, fileId, leaseOwner, leaseMs / 1_000],
    );
  }

  /**
   * Marks the file as indexed, applies attributes that were changed in the meantime, and deletes the file's previous
   * document. Returns false if the lease was lost: the new passages are deleted then, unless another owner of the lease
   * uses them for the attached file.
   */
  async complete(leaseOwner: string, task: TaskKey, documentId: string): Promise<boolean> {
    const { vectorStoreId, fileId } = task;
    return this.database.transaction(async (transaction) => {
      const [row] = await transaction.query<{ attributes: Attributes }>(
        `UPDATE vector_store_files SET status = 'completed', document_id = $4, lease_owner = NULL,
                usage_bytes = (SELECT coalesce(sum(octet_length(text) + 4 * vector_dims(embedding)), 0)
                               FROM chunks WHERE chunks.document_id = $4)
         WHERE vector_store_id = $1 AND file_id = $2 AND lease_owner = $3 AND status = 'in_progress'
         RETURNING attributes`,
        [vectorStoreId, fileId, leaseOwner, documentId],
      );
      if (row) {
        await transaction.execute(
          'UPDATE documents SET metadata = (SELECT attributes FROM vector_store_files WHERE vector_store_id = $1 AND file_id = $2) WHERE id = $3',
          [vectorStoreId, fileId, documentId],
        );
        return true;
      }
      await transaction.execute(
        `DELETE FROM documents WHERE id = $3 AND NOT EXISTS (
           SELECT FROM vector_store_files WHERE vector_store_id = $1 AND file_id = $2
             AND (status = 'in_progress' OR document_id = $3))`,
        [vectorStoreId, fileId, documentId],
      );
      return false;
    });
  }

  /** It cannot be indexed. */
  async fail(
    leaseOwner: string,
    { vectorStoreId, fileId }: TaskKey,
    error: { code: string; message: string },
  ): Promise<boolean> {
    return this.#update(
      `UPDATE vector_store_files SET status = 'failed', error_code = $4, error_message = $5, lease_owner = NULL
       WHERE vector_store_id = $1 AND file_id = $2 AND lease_owner = $3 AND status = 'in_progress'`,
      [vectorStoreId, fileId, leaseOwner, error.code, error.message],
    );
  }

  /** Puts it back, to be taken after a pause; `counted: false` where the attempt was not its own fault. */
  async postpone(
    leaseOwner: string,
    { vectorStoreId, fileId }: TaskKey,
    { pauseMs, counted }: { pauseMs: number; counted: boolean },
  ): Promise<boolean> {
    return this.#update(
      `UPDATE vector_store_files SET lease_owner = NULL, lease_until = now() + make_interval(secs => $4),
              attempts = attempts - $5
       WHERE vector_store_id = $1 AND file_id = $2 AND lease_owner = $3 AND status = 'in_progress'`,
      [vectorStoreId, fileId, leaseOwner, pauseMs / 1_000, counted ? 0 : 1],
    );
  }

  /** Removes passages of files that were detached while a process stored them and then died. Returns their number. */
  async deleteOrphans(): Promise<number> {
    return this.database.execute(
      `DELETE FROM documents WHERE owner IS NOT NULL AND pending_since IS NULL
         AND created_at < now() - interval '1 hour'
         AND NOT EXISTS (SELECT FROM vector_store_files AS attached WHERE attached.vector_store_id = collection
                           AND (attached.document_id = documents.id OR attached.status = 'in_progress'))`,
    );
  }

  async #update(text: string, values: (string | number)[]): Promise<boolean> {
    const touched = await this.database.execute(text, values);
    return touched > 0;
  }
}
