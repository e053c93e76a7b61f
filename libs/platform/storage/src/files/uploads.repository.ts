import { MegaNestError, invalidField } from '#platform/contracts';
import type { Database } from '../database.js';
import type { Transaction } from '../transaction.js';
import {
  fileColumns,
  lockUsage,
  type FileBounds,
  type FileFacts,
  type StoredFile,
} from './files.repository.js';

export type UploadStatus = 'pending' | 'completed' | 'cancelled' | 'expired';

/** A file that a client uploads in parts. */
export interface StoredUpload extends FileFacts {
  id: string;
  /** The announced size; the sizes of the parts have to add up to it. */
  bytes: number;
  status: UploadStatus;
  createdAt: Date;
  expiresAt: Date;
}

/** Time for which an upload accepts parts. */
const openFor = '1 hour';
const columns = `id, filename, purpose, mime_type AS "mimeType", bytes::float8 AS bytes,
  file_expires_seconds AS "expiresAfterSeconds", created_at AS "createdAt", expires_at AS "expiresAt",
  CASE WHEN status = 'pending' AND expires_at < now() THEN 'expired' ELSE status END AS status`;

/** Uploads in parts; a part is a pending file, written by the files' repository. */
export class UploadsRepository {
  constructor(private readonly database: Database) {}

  async create(owner: string, id: string, facts: FileFacts & { bytes: number }): Promise<StoredUpload> {
    const { filename, purpose, mimeType, bytes, expiresAfterSeconds } = facts;
    const [upload] = await this.database.query<StoredUpload>(
      `INSERT INTO uploads (id, owner, filename, purpose, mime_type, bytes, status, file_expires_seconds, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, now() + interval '${openFor}') RETURNING ${columns}`,
      [id, owner, filename, purpose, mimeType, bytes, expiresAfterSeconds ?? null],
    );
    return upload!;
  }

  async find(owner: string, id: string): Promise<StoredUpload | undefined> {
    return this.database.transaction((transaction) => select(transaction, owner, id));
  }

  /** Stores the size of a written part. Errors: conflict if the upload does not accept parts any more. */
  async addPart(owner: string, id: string, part: { id: string; bytes: number }): Promise<Date> {
    return this.database.transaction(async (transaction) => {
      requirePending(await select(transaction, owner, id, true), id);
      const [row] = await transaction.query<{ created_at: Date }>(
        'UPDATE files SET bytes = $2, writing = 0 WHERE id = $1 RETURNING created_at',
        [part.id, part.bytes],
      );
      return row?.created_at ?? unknown(id);
    });
  }

  /** Returns the parts with these ids, in their order. Errors: invalid_request for a part of another upload. */
  async parts(owner: string, id: string, partIds: readonly string[]): Promise<UploadedPart[]> {
    return this.database.transaction(async (transaction) => {
      if (!(await select(transaction, owner, id))) unknown(id);
      return readParts(transaction, id, partIds);
    });
  }

  /** Cancels an upload; a cancelled upload does not change. Errors: conflict if it is completed. */
  async cancel(owner: string, id: string): Promise<StoredUpload> {
    return this.database.transaction(async (transaction) => {
      const upload = (await select(transaction, owner, id, true)) ?? unknown(id);
      if (upload.status !== 'cancelled') requirePending(upload, id);
      await transaction.execute(`UPDATE uploads SET status = 'cancelled' WHERE id = $1`, [id]);
      await transaction.execute('DELETE FROM files WHERE upload_id = $1', [id]);
      return { ...upload, status: 'cancelled' };
    });
  }

  /**
   * Creates the file from the parts in the given order. Their pieces move to the file and are not written again.
   * Errors: conflict if the upload does not accept parts any more; invalid_request for a part of another upload, and if
   * the sizes do not add up to the announced size; payload_too_large beyond the limits.
   */
  async complete(
    owner: string,
    id: string,
    { partIds, fileId, bounds }: { partIds: readonly string[]; fileId: string; bounds: FileBounds },
  ): Promise<{ upload: StoredUpload; file: StoredFile }> {
    return this.database.transaction(async (transaction) => {
      const upload = (await select(transaction, owner, id, true)) ?? unknown(id);
      requirePending(upload, id);
      const parts = await readParts(transaction, id, partIds);
      const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
      if (bytes !== upload.bytes) throw wrongSize(bytes, upload.bytes);
      const usage = await lockUsage(transaction, owner);
      // The usage already includes the bytes of this upload's parts.
      if (usage.count >= bounds.maxCount) throw beyond('The number of files', String(bounds.maxCount));
      if (usage.bytes > bounds.maxBytes) throw beyond('The files', `${bounds.maxBytes} bytes`);
      const file = await insertFile(transaction, owner, fileId, upload);
      await movePieces(transaction, fileId, parts);
      await transaction.execute(`UPDATE uploads SET status = 'completed', file_id = $2 WHERE id = $1`, [
        id,
        fileId,
      ]);
      await transaction.execute('DELETE FROM files WHERE upload_id = $1', [id]);
      return { upload: { ...upload, status: 'completed' }, file };
    });
  }
}

/** An uploaded part. */
export interface UploadedPart {
  id: string;
  bytes: number;
}

async function readParts(
  transaction: Transaction,
  uploadId: string,
  ids: readonly string[],
): Promise<UploadedPart[]> {
  const rows = await transaction.query<UploadedPart>(
    'SELECT id, bytes::float8 AS bytes FROM files WHERE upload_id = $1 AND bytes > 0',
    [uploadId],
  );
  const known = new Map(rows.map((part) => [part.id, part.bytes]));
  return ids.map((id, index) => {
    const bytes = known.get(id);
    known.delete(id);
    if (bytes !== undefined) return { id, bytes };
    const param = `part_ids[${index}]`;
    throw invalidField(param, `${id} is not a part of this upload, or is there twice`);
  });
}

async function insertFile(
  transaction: Transaction,
  owner: string,
  id: string,
  { filename, purpose, mimeType, bytes, expiresAfterSeconds }: StoredUpload,
): Promise<StoredFile> {
  const [file] = await transaction.query<StoredFile>(
    `INSERT INTO files (id, owner, filename, purpose, mime_type, bytes, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7)) RETURNING ${fileColumns}`,
    [id, owner, filename, purpose, mimeType, bytes, expiresAfterSeconds ?? null],
  );
  return file!;
}

async function movePieces(
  transaction: Transaction,
  fileId: string,
  parts: readonly UploadedPart[],
): Promise<void> {
  let start = 0;
  for (const part of parts) {
    await transaction.execute('UPDATE file_pieces SET file_id = $2, start = start + $3 WHERE file_id = $1', [
      part.id,
      fileId,
      start,
    ]);
    start += part.bytes;
  }
}

async function select(
  transaction: Transaction,
  owner: string,
  id: string,
  lock = false,
): Promise<StoredUpload | undefined> {
  const [upload] = await transaction.query<StoredUpload>(
    `SELECT ${columns} FROM uploads WHERE id = $1 AND owner = $2 ${lock ? 'FOR UPDATE' : ''}`,
    [id, owner],
  );
  return upload;
}

function requirePending(upload: StoredUpload | undefined, id: string): void {
  const { status } = upload ?? unknown(id);
  if (status === 'pending') return;
  throw new MegaNestError('conflict', { detail: `The upload ${id} is ${status}.`, param: 'upload_id' });
}

function wrongSize(bytes: number, announced: number): MegaNestError {
  return invalidField(
    'part_ids',
    `the parts have ${bytes} bytes, the upload was announced with ${announced}`,
  );
}

function beyond(what: string, limit: string): MegaNestError {
  return new MegaNestError('payload_too_large', {
    what: `${what} of this API key`,
    limit,
    param: 'part_ids',
  });
}

function unknown(id: string): never {
  throw new MegaNestError('not_found', { what: `The upload ${id}`, param: 'upload_id' });
}
