import type { Database } from './database.js';
import { toPostgresJson } from './transaction.js';

/** An engine as it was added. */
export interface StoredEngine {
  id: string;
  spec: unknown;
}

/** The engines that the API has added. */
export class EnginesRepository {
  constructor(private readonly database: Database) {}

  /** All of them, oldest first. */
  async list(): Promise<StoredEngine[]> {
    return this.database.query<StoredEngine>('SELECT id, spec FROM engines ORDER BY created_at, id');
  }

  /** Adds an engine, or replaces the one with its id; false if there are `maxCount` others. */
  async put({ id, spec }: StoredEngine, maxCount: number): Promise<boolean> {
    const changed = await this.database.execute(
      `INSERT INTO engines (id, spec)
       SELECT $1, $2 WHERE (SELECT count(*) FROM engines WHERE id <> $1) < $3
       ON CONFLICT (id) DO UPDATE SET spec = excluded.spec`,
      [id, toPostgresJson(spec), maxCount],
    );
    return changed > 0;
  }

  /** Returns whether there was one. */
  async delete(id: string): Promise<boolean> {
    return (await this.database.execute('DELETE FROM engines WHERE id = $1', [id])) > 0;
  }
}
