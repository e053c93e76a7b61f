import { readCursorPage, type CursorPage, type CursorRequest } from '../cursor.js';
import type { Database } from '../database.js';
import { toPostgresJson, type SqlValue, type Transaction } from '../transaction.js';
import { countsColumn, type FileCounts } from './vector-store-files.repository.js';

/** The fields that the owner may set. */
export interface VectorStoreFields {
  name: string;
  description: string | null;
  metadata: Record<string, string>;
  /** Days without use after which it expires; null: never. */
  expiresDays: number | null;
}

/** A vector store as it is now; its id is the collection of its passages. */
export interface StoredVectorStore extends VectorStoreFields {
  id: string;
  createdAt: Date;
  lastActiveAt: Date;
  status: 'expired' | 'in_progress' | 'completed';
  fileCounts: FileCounts;
  /** Bytes of its passages. */
  usageBytes: number;
}

/** A store without what is counted of its files. */
type VectorStoreRow = Omit<StoredVectorStore, 'status' | 'fileCounts' | 'usageBytes'> & { expired: boolean };

/** SQL condition: the store was not used for its number of days. */
export const isExpired =
  'coalesce(vector_stores.last_active_at + make_interval(days => vector_stores.expires_days) < now(), false)';

const columns = `id, name, description, metadata, expires_days AS "expiresDays", created_at AS "createdAt",
  last_active_at AS "lastActiveAt", ${isExpired} AS expired`;

/** Vector stores. An owner sees only their own stores. */
export class VectorStoresRepository {
  constructor(private readonly database: Database) {}

  async create(owner: string, id: string, fields: VectorStoreFields): Promise<StoredVectorStore> {
    const { name, description, metadata, expiresDays } = fields;
    const [store] = await this.#read(
      `INSERT INTO vector_stores (id, owner, name, description, metadata, expires_days)
       VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${columns}`,
      [id, owner, name, description, toPostgresJson(metadata), expiresDays],
    );
    return store!;
  }

  async find(owner: string, id: string): Promise<StoredVectorStore | undefined> {
    const [store] = await this.findAll(owner, [id]);
    return store;
  }

  /** Those of the ids that exist for the owner, in no particular order. */
  findAll(owner: string, ids: readonly string[]): Promise<StoredVectorStore[]> {
    return this.#read(`SELECT ${columns} FROM vector_stores WHERE id = ANY($1) AND owner = $2`, [ids, owner]);
  }

  /** Changes the fields that are given, and counts as a use. An expired store stays as it is. */
  async update(
    owner: string,
    id: string,
    change: (fields: VectorStoreFields) => VectorStoreFields,
  ): Promise<StoredVectorStore | undefined> {
    return this.database.transaction(async (transaction) => {
      const [row] = await transaction.query<VectorStoreRow>(
        `SELECT ${columns} FROM vector_stores WHERE id = $1 AND owner = $2 FOR UPDATE`,
        [id, owner],
      );
      if (!row) return undefined;
      if (row.expired) return (await withCounts(transaction, [row]))[0];
      const { name, description, metadata, expiresDays } = change(row);
      const changed = await transaction.query<VectorStoreRow>(
        `UPDATE vector_stores SET name = $2, description = $3, metadata = $4, expires_days = $5, last_active_at = now()
         WHERE id = $1 RETURNING ${columns}`,
        [id, name, description, toPostgresJson(metadata), expiresDays],
      );
      return (await withCounts(transaction, changed))[0];
    });
  }

  /** Stores that were used a moment ago live on. */
  async touch(ids: readonly string[]): Promise<void> {
    await this.database.execute(
      `UPDATE vector_stores SET last_active_at = now()
       WHERE id = ANY($1) AND NOT ${isExpired} AND last_active_at < now() - interval '1 second'`,
      [ids],
    );
  }

  /** Errors: invalid_request for an unknown cursor. */
  async list(owner: string, page: CursorRequest): Promise<CursorPage<StoredVectorStore>> {
    const list = { table: 'vector_stores', idColumn: 'id', columns, condition: 'owner = $1' } as const;
    return this.database.transaction(async (transaction) => {
      const found = await readCursorPage<VectorStoreRow>(transaction, { ...list, values: [owner] }, page);
      return { rows: await withCounts(transaction, found.rows), hasMore: found.hasMore };
    });
  }

  /** Removes a store with its passages; the files themselves stay. */
  async delete(owner: string, id: string): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      const deleted = await transaction.execute('DELETE FROM vector_stores WHERE id = $1 AND owner = $2', [
        id,
        owner,
      ]);
      if (deleted > 0) await transaction.execute('DELETE FROM documents WHERE collection = $1', [id]);
      return deleted > 0;
    });
  }

  /**
   * Empties stores that have expired: their passages and files go, they themselves stay and say so. Answers how many.
   */
  async emptyExpired(): Promise<number> {
    return this.database.transaction(async (transaction) => {
      const emptied = await transaction.query<{ id: string }>(
        `DELETE FROM vector_store_files USING vector_stores
         WHERE vector_store_files.vector_store_id = vector_stores.id AND vector_stores.expires_days IS NOT NULL
           AND ${isExpired} RETURNING vector_stores.id`,
      );
      const ids = [...new Set(emptied.map(({ id }) => id))];
      if (ids.length > 0)
        await transaction.execute('DELETE FROM documents WHERE collection = ANY($1)', [ids]);
      return ids.length;
    });
  }

  async #read(text: string, values: SqlValue[]): Promise<StoredVectorStore[]> {
    return this.database.transaction(async (transaction) =>
      withCounts(transaction, await transaction.query<VectorStoreRow>(text, values)),
    );
  }
}

async function withCounts(
  transaction: Transaction,
  rows: readonly VectorStoreRow[],
): Promise<StoredVectorStore[]> {
  if (rows.length === 0) return [];
  const counted = await transaction.query<{ id: string; counts: FileCounts; bytes: number }>(
    `SELECT vector_store_id AS id, ${countsColumn} AS counts, sum(usage_bytes)::float8 AS bytes
     FROM vector_store_files AS attached WHERE vector_store_id = ANY($1) GROUP BY vector_store_id`,
    [rows.map(({ id }) => id)],
  );
  const byId = new Map(counted.map((row) => [row.id, row]));
  return rows.map(({ expired, ...row }) => {
    const { counts, bytes } = byId.get(row.id) ?? { counts: noFiles, bytes: 0 };
    const ready = counts.in_progress > 0 ? 'in_progress' : 'completed';
    return { ...row, status: expired ? 'expired' : ready, fileCounts: counts, usageBytes: bytes };
  });
}

const noFiles: FileCounts = { in_progress: 0, completed: 0, failed: 0, cancelled: 0, total: 0 };
