import { MegaNestError } from '#contracts';
import { readCursorPage, type CursorPage, type CursorRequest } from '../cursor.js';
import type { Database } from '../database.js';
import type { Transaction } from '../transaction.js';
import { readPiece, writePieces } from './file-pieces.js';

/** What is known of a file beside its content. */
export interface StoredFile {
  id: string;
  filename: string;
  purpose: string;
  mimeType: string;
  bytes: number;
  createdAt: Date;
  /** When it goes by itself; null: never. */
  expiresAt: Date | null;
}

/** What a file becomes when its content is there. */
export interface FileFacts {
  filename: string;
  purpose: string;
  mimeType: string;
  /** Seconds after its creation; absent or null: it stays. */
  expiresAfterSeconds?: number | null;
}

/** How much one owner may keep. */
export interface FileBounds {
  maxCount: number;
  maxBytes: number;
}

/** The columns of a {@link StoredFile}. */
export const fileColumns = `id, filename, purpose, mime_type AS "mimeType", bytes::float8 AS bytes,
  created_at AS "createdAt", expires_at AS "expiresAt"`;

/** Files that are whole, and have not had their time: `owner` is a placeholder. */
function visibleFiles(owner: string): string {
  return `owner = ${owner} AND upload_id IS NULL AND pending_since IS NULL AND (expires_at IS NULL OR expires_at > now())`;
}

/** Content that never was finished, because its process died, goes after this long. */
const abandonedAfter = '1 hour';

/** Files with their content, in pieces of Postgres rows. What belongs to one owner does not exist for the others. */
export class FilesRepository {
  constructor(private readonly database: Database) {}

  /**
   * Writes content as it comes; the file shows with {@link publish}. Answers the bytes written. Whatever throws, the
   * content included, leaves nothing behind. Errors: payload_too_large where the owner keeps too much, or where the parts
   * of an upload exceed what was announced; conflict for too many parts.
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

  /** Shows a written file. Errors: payload_too_large, and then nothing of it stays; not_found where it has gone. */
  async publish(
    owner: string,
    id: string,
    { filename, purpose, mimeType, expiresAfterSeconds }: FileFacts,
    { bytes, bounds }: { bytes: number; bounds: FileBounds },
  ): Promise<StoredFile> {
    try {
      return await this.database.transaction(async (transaction) => {
        const usage = await lockUsage(transaction, owner);
        // What was written is counted in the usage already.
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

  /** Removes what was written and is not to be shown. */
  async discard(id: string): Promise<void> {
    await this.database.execute('DELETE FROM files WHERE id = $1 AND pending_since IS NOT NULL', [id]);
  }

  async find(owner: string, id: string): Promise<StoredFile | undefined> {
    const [file] = await this.findAll(owner, [id]);
    return file;
  }

  /** Those of the ids that exist for the owner, in no particular order. */
  async findAll(owner: string, ids: readonly string[]): Promise<StoredFile[]> {
    return this.database.query<StoredFile>(
      `SELECT ${fileColumns} FROM files WHERE id = ANY($2) AND ${visibleFiles('$1')}`,
      [owner, ids],
    );
  }

  /** The content from its beginning, read as it is asked for. Errors: not_found where the file goes meanwhile. */
  async *content({ id, bytes }: Pick<StoredFile, 'id' | 'bytes'>): AsyncGenerator<Buffer, void, void> {
    for (let start = 0; start < bytes;) {
      const piece = await readPiece(this.database, id, start);
      if (!piece) throw new MegaNestError('not_found', { what: `The file ${id}`, param: 'file_id' });
      yield piece;
      start += piece.length;
    }
  }

  /** A page of the owner's files, of one purpose where one is named. Errors: invalid_request for an unknown cursor. */
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

  /** Removes a file, its place in every vector store, and the passages that were cut from it. */
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

  /** Removes files that have had their time, with their passages, and what dead processes left. Answers how many. */
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

/** Parts of one upload: a client that sends single bytes must not fill a table. */
const mostParts = 10_000;

/** Others of the same owner wait, because the owner's usage is locked. */
async function requireFewParts(transaction: Transaction, uploadId: string): Promise<void> {
  const [row] = await transaction.query<{ count: string }>(
    'SELECT count(*) AS count FROM files WHERE upload_id = $1',
    [uploadId],
  );
  if (Number(row?.count) < mostParts) return;
  const detail = `The upload ${uploadId} has ${mostParts} parts.`;
  throw new MegaNestError('conflict', { detail, param: 'upload_id' });
}

/** Errors: payload_too_large where the parts have more bytes than the upload was announced with. */
async function requireAnnounced(transaction: Transaction, uploadId: string, more: number): Promise<void> {
  const [row] = await transaction.query<{ sent: number; announced: number }>(
    `SELECT (SELECT sum(bytes + writing) FROM files WHERE upload_id = $1)::float8 AS sent, bytes::float8 AS announced
     FROM uploads WHERE id = $1`,
    [uploadId],
  );
  if (row && row.sent + more <= row.announced) return;
  throw new MegaNestError('payload_too_large', {
    what: 'What the parts of this upload would have together',
    limit: `${row?.announced ?? 0} bytes, as announced`,
    param: 'data',
  });
}

function tooMany(limit: number): MegaNestError {
  const what = 'The number of files that one API key may keep';
  return new MegaNestError('payload_too_large', { what, limit: String(limit), param: 'file' });
}

function tooMuch(limit: number): MegaNestError {
  const what = 'What the files of this API key would take together';
  return new MegaNestError('payload_too_large', { what, limit: `${limit} bytes`, param: 'file' });
}

/** What an owner keeps, unfinished uploads and what is being written included; others of the same owner wait until the transaction ends. */
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
