import { MegaNestError } from '#platform/contracts';
import { readCursorPage, type CursorPage, type CursorRequest } from '../cursor.js';
import type { Database } from '../database.js';
import type { Transaction } from '../transaction.js';
import { readPiece, writePieces } from './file-pieces.js';

/** A file without its content. */
export interface StoredFile {
  id: string;
  filename: string;
  purpose: string;
  mimeType: string;
  bytes: number;
  createdAt: Date;
  /** Time of its automatic deletion; null: never. */
  expiresAt: Date | null;
}

/** The properties of a file whose content is complete. */
export interface FileFacts {
  filename: string;
  purpose: string;
  mimeType: string;
  /** Seconds from its creation to its deletion; absent or null: never deleted. */
  expiresAfterSeconds?: number | null;
}

/** Limits for the files of one owner. */
export interface FileBounds {
  maxCount: number;
  maxBytes: number;
}

/** The columns of a {@link StoredFile}. */
export const fileColumns = `id, filename, purpose, mime_type AS "mimeType", bytes::float8 AS bytes,
  created_at AS "createdAt", expires_at AS "expiresAt"`;

/** SQL condition for complete files that have not expired; `owner` is a placeholder. */
function visibleFiles(owner: string): string {
  return `owner = ${owner} AND upload_id IS NULL AND pending_since IS NULL AND (expires_at IS NULL OR expires_at > now())`;
}

/** Unfinished content of a dead process is deleted after this time. */
const abandonedAfter = '1 hour';

/** Files with their content, in pieces of Postgres rows. An owner sees only their own files. */
export class FilesRepository {
  constructor(private readonly database: Database) {}

  /**
   * Writes content as it arrives; {@link publish} makes the file visible. Returns the number of bytes. After an error,
   * also of the content itself, the written bytes are removed. Errors: payload_too_large if the owner's files exceed
   * the limits, or if the parts of an upload exceed its announced size; conflict for too many parts.
   */
  async write(
    owner: string,
    { id, uploadId = null, bounds }: { id: string; uploadId?: string | null; bounds: FileBounds },
    content: AsyncIterable<Uint8Array>,
  ): Promise<number> {
    await this.database.transaction(async (transaction) => {
      const { count } = await lockUsage(transaction, owner);
      if (uploadId === null && count >= bounds.maxCount) throw tooMany(bounds.maxCount);
      if (uploadId !== null) await requireFewParts(transaction, uploadId);
      await transaction.execute(
        `INSERT INTO files (id, owner, upload_id, filename, purpose, mime_type, pending_since)
         VALUES ($1, $2, $3, '', '', '', now())`,
        [id, owner, uploadId],
      );
    });
    try {
      return await writePieces(this.database, id, content, async (transaction, more) => {
        const { bytes } = await lockUsage(transaction, owner);
        if (bytes + more > bounds.maxBytes) throw tooMuch(bounds.maxBytes);
        if (uploadId !== null) await requireAnnounced(transaction, uploadId, more);
      });
    } catch (error) {
      await this.discard(id).catch(() => undefined);
      throw error;
    }
  }

  /** Makes a written file visible. Errors: payload_too_large, which removes the file; not_found if it was deleted. */
  async publish(
    owner: string,
    id: string,
    { filename, purpose, mimeType, expiresAfterSeconds }: FileFacts,
    { bytes, bounds }: { bytes: number; bounds: FileBounds },
  ): Promise<StoredFile> {
    try {
      return await this.database.transaction(async (transaction) => {
        const usage = await lockUsage(transaction, owner);
        // The usage already includes the written bytes.
        if (usage.bytes > bounds.maxBytes) throw tooMuch(bounds.maxBytes);
        const [file] = await transaction.query<StoredFile>(
          `UPDATE files SET filename = $3, purpose = $4, mime_type = $5, bytes = $6, writing = 0, pending_since = NULL,
                  created_at = now(), expires_at = now() + make_interval(secs => $7)
           WHERE id = $1 AND owner = $2 RETURNING ${fileColumns}`,
          [id, owner, filename, purpose, mimeType, bytes, expiresAfterSeconds ?? null],
        );
        if (file) return file;
        throw new MegaNestError('not_found', { what: `The file ${id}`, param: 'file_id' });
      });
    } catch (error) {
      await this.discard(id).catch(() => undefined);
      throw error;
    }
  }

  /** Removes written content that will not become visible. */
  async discard(id: string): Promise<void> {
    await this.database.execute('DELETE FROM files WHERE id = $1 AND pending_since IS NOT NULL', [id]);
  }

  async find(owner: string, id: string): Promise<StoredFile | undefined> {
    const [file] = await this.findAll(owner, [id]);
    return file;
  }

  /** Returns the owner's files among the ids, in any order. */
  async findAll(owner: string, ids: readonly string[]): Promise<StoredFile[]> {
    return this.database.query<StoredFile>(
      `SELECT ${fileColumns} FROM files WHERE id = ANY($2) AND ${visibleFiles('$1')}`,
      [owner, ids],
    );
  }

  /** Yields the content from its beginning, on demand. Errors: not_found if the file is deleted in the meantime. */
  async *content({ id, bytes }: Pick<StoredFile, 'id' | 'bytes'>): AsyncGenerator<Buffer, void, void> {
    for (let start = 0; start < bytes;) {
      const piece = await readPiece(this.database, id, start);
      if (!piece) throw new MegaNestError('not_found', { what: `The file ${id}`, param: 'file_id' });
      yield piece;
      start += piece.length;
    }
  }

  /** Returns a page of the owner's files, optionally of one purpose. Errors: invalid_request for an unknown cursor. */
  async list(owner: string, page: CursorRequest & { purpose?: string }): Promise<CursorPage<StoredFile>> {
    const list = {
      table: 'files',
      idColumn: 'id',
      columns: fileColumns,
      condition: `${visibleFiles('$1')} AND ($2::text IS NULL OR purpose = $2)`,
      values: [owner, page.purpose ?? null],
    } as const;
    return this.database.transaction((transaction) => readCursorPage<StoredFile>(transaction, list, page));
  }

  /** Removes a file, its entry in every vector store, and its passages. */
  async delete(owner: string, id: string): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      const [found] = await transaction.query<StoredFile>(
        `SELECT ${fileColumns} FROM files WHERE id = $2 AND ${visibleFiles('$1')} FOR UPDATE`,
        [owner, id],
      );
      if (!found) return false;
      await transaction.execute(
        'DELETE FROM documents USING vector_store_files AS attached WHERE attached.file_id = $1 AND documents.id = attached.document_id',
        [id],
      );
      await transaction.execute('DELETE FROM files WHERE id = $1', [id]);
      return true;
    });
  }

  /** Removes expired files with their passages, and remains of dead processes. Returns the number of removed files. */
  async deleteExpired(): Promise<number> {
    return this.database.transaction(async (transaction) => {
      await transaction.execute(
        `DELETE FROM documents USING vector_store_files AS attached, files
         WHERE attached.file_id = files.id AND files.expires_at < now() AND documents.id = attached.document_id`,
      );
      await transaction.execute(
        `DELETE FROM uploads WHERE expires_at < now() - interval '${abandonedAfter}'`,
      );
      return transaction.execute(
        `DELETE FROM files WHERE expires_at < now()
           OR (pending_since < now() - interval '${abandonedAfter}' AND upload_id IS NULL)`,
      );
    });
  }
}

/** Maximum parts of one upload: a client that sends single bytes must not fill a table. */
const maxParts = 10_000;

/** Other writes of the same owner wait, because the owner's usage is locked. */
async function requireFewParts(transaction: Transaction, uploadId: string): Promise<void> {
  const [row] = await transaction.query<{ count: string }>(
    'SELECT count(*) AS count FROM files WHERE upload_id = $1',
    [uploadId],
  );
  if (Number(row?.count) < maxParts) return;
  const detail = `The upload ${uploadId} has ${maxParts} parts.`;
  throw new MegaNestError('conflict', { detail, param: 'upload_id' });
}

/** Errors: payload_too_large if the parts have more bytes than the announced size of the upload. */
async function requireAnnounced(transaction: Transaction, uploadId: string, more: number): Promise<void> {
  const [row] = await transaction.query<{ sent: number; announced: number }>(
    `SELECT (SELECT sum(bytes + writing) FROM files WHERE upload_id = $1)::float8 AS sent, bytes::float8 AS announced
     FROM uploads WHERE id = $1`,
    [uploadId],
  );
  if (row && row.sent + more <= row.announced) return;
  throw new MegaNestError('payload_too_large', {
    what: 'The total size of the parts of this upload',
    limit: `${row?.announced ?? 0} bytes, as announced`,
    param: 'data',
  });
}

function tooMany(limit: number): MegaNestError {
  const what = 'The number of files of this API key';
  return new MegaNestError('payload_too_large', { what, limit: String(limit), param: 'file' });
}

function tooMuch(limit: number): MegaNestError {
  const what = 'The total size of the files of this API key';
  return new MegaNestError('payload_too_large', { what, limit: `${limit} bytes`, param: 'file' });
}

/**
 * Reads an owner's usage, with unfinished uploads and files. Other writes of the owner wait until the transaction ends.
 */
export async function lockUsage(
  transaction: Transaction,
  owner: string,
): Promise<{ count: number; bytes: number }> {
  await transaction.query(`SELECT pg_advisory_xact_lock(hashtext('files'), hashtext($1))`, [owner]);
  const [usage] = await transaction.query<{ count: number; bytes: number }>(
    `SELECT count(*) FILTER (WHERE upload_id IS NULL)::float8 AS count,
            coalesce(sum(bytes + writing), 0)::float8 AS bytes
     FROM files WHERE owner = $1`,
    [owner],
  );
  return usage!;
}
