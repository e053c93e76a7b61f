import { MegaNestError } from '#platform/contracts';
import type { Database } from './database.js';
import { requireRoom } from './responses/kept-bounds.js';
import { toPostgresJson, toPostgresText } from './transaction.js';

/** Whose records: the holder of an API key, and a user of that holder's application. */
export interface RecordScope {
  owner: string;
  user: string;
}

/** A record of a kind, e.g. a prompt. */
export interface UserRecord<Data> {
  id: string;
  data: Data;
}

/** Most records of a kind and a user, so that lists stay short. */
const maxRecords = 10_000;

/** Records of one kind. An owner's user sees only their own records. */
export class UserRecordsRepository<Data extends object> {
  constructor(
    private readonly database: Database,
    private readonly kind: string,
    /** Of the conversations and records of one owner; 0: no bound. */
    private readonly maxBytes = 0,
  ) {}

  /** Errors: conflict where the user has too many already; payload_too_large. */
  async create({ owner, user }: RecordScope, id: string, data: Data): Promise<void> {
    const text = toPostgresJson(data);
    const bytes = Buffer.byteLength(text);
    await this.database.transaction(async (transaction) => {
      await requireRoom(transaction, owner, { maxBytes: this.maxBytes, more: bytes, rows: 1 });
      const written = await transaction.execute(
        `INSERT INTO user_records (id, kind, owner, user_name, data, bytes) SELECT $1, $2, $3, $4, $5, $7
         WHERE (SELECT count(*) FROM user_records WHERE kind = $2 AND owner = $3 AND user_name = $4) < $6`,
        [id, this.kind, owner, toPostgresText(user), text, maxRecords, bytes],
      );
      if (written > 0) return;
      const detail = `user: ${maxRecords} are stored already; delete some`;
      throw new MegaNestError('conflict', { detail, param: 'user' });
    });
  }

  /** False where there is no such record. Errors: payload_too_large. */
  async update({ owner, user }: RecordScope, id: string, data: Data): Promise<boolean> {
    const text = toPostgresJson(data);
    const bytes = Buffer.byteLength(text);
    return this.database.transaction(async (transaction) => {
      const written = await transaction.execute(
        `UPDATE user_records SET data = $5, bytes = $6, updated_at = now()
         WHERE id = $1 AND kind = $2 AND owner = $3 AND user_name = $4`,
        [id, this.kind, owner, toPostgresText(user), text, bytes],
      );
      // The replaced data does not count any more.
      if (written > 0) await requireRoom(transaction, owner, { maxBytes: this.maxBytes, more: 0 });
      return written > 0;
    });
  }

  async find({ owner, user }: RecordScope, id: string): Promise<Data | undefined> {
    const [row] = await this.database.query<UserRecord<Data>>(
      'SELECT id, data FROM user_records WHERE id = $1 AND kind = $2 AND owner = $3 AND user_name = $4',
      [toPostgresText(id), this.kind, owner, toPostgresText(user)],
    );
    return row?.data;
  }

  /** Latest first. */
  async list({ owner, user }: RecordScope): Promise<UserRecord<Data>[]> {
    return this.database.query<UserRecord<Data>>(
      `SELECT id, data FROM user_records WHERE kind = $1 AND owner = $2 AND user_name = $3
       ORDER BY created_at DESC, id DESC`,
      [this.kind, owner, toPostgresText(user)],
    );
  }

  async delete({ owner, user }: RecordScope, id: string): Promise<boolean> {
    const deleted = await this.database.execute(
      'DELETE FROM user_records WHERE id = $1 AND kind = $2 AND owner = $3 AND user_name = $4',
      [toPostgresText(id), this.kind, owner, toPostgresText(user)],
    );
    return deleted > 0;
  }
}
