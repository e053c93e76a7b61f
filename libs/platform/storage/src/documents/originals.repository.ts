import type { Database } from '../database.js';
import { evenPieces } from '../files/file-pieces.js';
import type { SqlValue } from '../transaction.js';

/** A part of the file that a document was read from. */
export interface OriginalPiece {
  filename: string;
  mimeType: string;
  /** Size of the whole file. */
  bytes: number;
  content: Buffer;
}

/** The file is kept; there is no room for it; or its document was deleted or replaced in the meantime. */
export type KeepOutcome = 'kept' | 'no_room' | 'gone';

/** Lifetime of the sum of all files that was read from the database; this process adds the bytes that it writes. */
const sumLifetimeMs = 1_000;

/** The files of shared documents, in pieces of Postgres rows. They are deleted with their documents. */
export class OriginalsRepository {
  #sum = { bytes: 0, readAt: -Infinity };

  /** `maxBytes`: limit for all files together; 0 keeps none. Several processes may exceed it by what they write in a second. */
  constructor(
    private readonly database: Database,
    readonly maxBytes: number,
  ) {}

  /**
   * Keeps the file of a stored document. It can be read when it is whole. After an error its pieces are removed. Errors: those of
   * the content and the database.
   */
  async keep(id: string, bytes: number, content: AsyncIterable<Uint8Array>): Promise<KeepOutcome> {
    if (!(await this.#hasRoom(bytes))) return 'no_room';
    try {
      let start = 0;
      for await (const piece of evenPieces(content)) {
        if (!(await this.#write(id, start, piece))) return 'gone';
        start += piece.length;
      }
      const sql = 'UPDATE documents SET original_bytes = $2 WHERE id = $1';
      return (await this.#execute(sql, [id, start])) > 0 ? 'kept' : 'gone';
    } catch (error) {
      await this.#execute('DELETE FROM document_originals WHERE document_id = $1', [id]).catch(
        () => undefined,
      );
      throw error;
    }
  }

  async #hasRoom(bytes: number): Promise<boolean> {
    if (performance.now() - this.#sum.readAt > sumLifetimeMs) {
      const [row] = await this.database.query<{ bytes: number }>(
        'SELECT coalesce(sum(original_bytes), 0)::float8 AS bytes FROM documents',
      );
      this.#sum = { bytes: row?.bytes ?? 0, readAt: performance.now() };
    }
    if (this.#sum.bytes + bytes > this.maxBytes) return false;
    this.#sum.bytes += bytes;
    return true;
  }

  /** False if the document was deleted or replaced. */
  async #write(id: string, start: number, piece: Buffer): Promise<boolean> {
    // The lock keeps a deletion from coming between the look and the row.
    const sql = `INSERT INTO document_originals (document_id, start, content)
      SELECT id, $2::bigint, $3::bytea FROM (SELECT id FROM documents WHERE id = $1 FOR KEY SHARE) AS present`;
    return (await this.#execute(sql, [id, start, piece])) > 0;
  }

  #execute(sql: string, values: SqlValue[]): Promise<number> {
    return this.database.transaction((transaction) => transaction.execute(sql, values));
  }

  /** Returns the piece of a shared document's file that begins at a byte; undefined if there is not any. */
  async readPiece(id: string, start: number): Promise<OriginalPiece | undefined> {
    const [row] = await this.database.query<OriginalPiece>(
      `SELECT filename, mime_type AS "mimeType", original_bytes::float8 AS bytes, content
       FROM documents JOIN document_originals ON document_id = documents.id
       WHERE documents.id::text = lower($1) AND start = $2 AND original_bytes IS NOT NULL AND pending_since IS NULL AND owner IS NULL`,
      [id, start],
    );
    return row;
  }
}
