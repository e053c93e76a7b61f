import type { Database } from '../database.js';

/** Secrets that the processes of one installation share. */
export class SecretsRepository {
  constructor(private readonly database: Database) {}

  /** The secret of a name; the one given where there is none yet. All callers get the same. */
  async getOrCreate(name: string, fresh: Uint8Array): Promise<Buffer> {
    return this.database.transaction(async (transaction) => {
      await transaction.execute('INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
        name,
        Buffer.from(fresh),
      ]);
      const [row] = await transaction.query<{ value: Buffer }>('SELECT value FROM secrets WHERE name = $1', [
        name,
      ]);
      if (!row) throw new Error(`The secret ${name} is gone`);
      return Buffer.from(row.value);
    });
  }
}
