import type { Transaction } from '../transaction.js';

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
export function visibleFiles(owner: string): string {
  return `owner = ${owner} AND upload_id IS NULL AND pending_since IS NULL AND (expires_at IS NULL OR expires_at > now())`;
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
