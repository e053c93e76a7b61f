import type { Database } from './database.js';
import { toPostgresJson } from './transaction.js';

/** Requests of a key in the window that runs, and how long it still does. */
export interface RateCount {
  count: number;
  leftMs: number;
}

/** Counts requests in windows of time, over all processes on the database. */
export class RateCountsRepository {
  constructor(private readonly database: Database) {}

  /** Counts one more request; a window begins with its first one. */
  async add(key: string, windowMs: number): Promise<RateCount> {
    const [counted] = await this.database.query<RateCount>(
      `INSERT INTO rate_counts AS known (key, count, ends_at) VALUES ($1, 1, now() + make_interval(secs => $2))
       ON CONFLICT (key) DO UPDATE SET
         count = CASE WHEN known.ends_at <= now() THEN 1 ELSE known.count + 1 END,
         ends_at = CASE WHEN known.ends_at <= now() THEN excluded.ends_at ELSE known.ends_at END
       RETURNING count, (extract(epoch FROM ends_at - now()) * 1000)::float8 AS "leftMs"`,
      [key, windowMs / 1_000],
    );
    return counted!;
  }

  /** Removes windows that are over. */
  async deleteOver(): Promise<number> {
    return this.database.execute('DELETE FROM rate_counts WHERE ends_at < now()');
  }
}

/** An answer as it was sent. */
export interface KeptAnswer {
  contentType: string;
  headers: Record<string, string>;
  body: string;
}

/** An Idempotency-Key with its owner and a hash of its request. */
export interface IdempotencyClaim {
  owner: string;
  key: string;
  fingerprint: string;
}

/** `claimed`: the caller makes the answer. `busy`: another one does. */
type Claimed =
  | { state: 'claimed' }
  | { state: 'busy'; fingerprint: string }
  | { state: 'answered'; fingerprint: string; answer: KeptAnswer };

/** Answers by the Idempotency-Key that a client sent with its request. */
export class IdempotentAnswersRepository {
  constructor(private readonly database: Database) {}

  /** Takes a key for `leaseMs`; one whose process has let its lease run out is taken over. */
  async claim(
    { owner, key, fingerprint }: IdempotencyClaim,
    leaseOwner: string,
    leaseMs: number,
  ): Promise<Claimed> {
    return this.database.transaction(async (transaction) => {
      const taken = await transaction.execute(
        `INSERT INTO idempotent_answers AS known (owner, key, fingerprint, lease_owner, lease_until)
         VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5))
         ON CONFLICT (owner, key) DO UPDATE SET fingerprint = excluded.fingerprint,
           lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
         WHERE known.answer IS NULL AND known.lease_until < now()`,
        [owner, key, fingerprint, leaseOwner, leaseMs / 1_000],
      );
      if (taken > 0) return { state: 'claimed' };
      const [row] = await transaction.query<{ fingerprint: string; answer: KeptAnswer | null }>(
        'SELECT fingerprint, answer FROM idempotent_answers WHERE owner = $1 AND key = $2',
        [owner, key],
      );
      // Between the two statements its owner may have let go of it: the client asks again.
      if (!row?.answer) return { state: 'busy', fingerprint: row?.fingerprint ?? fingerprint };
      return { state: 'answered', fingerprint: row.fingerprint, answer: row.answer };
    });
  }

  /** Keeps the key for `leaseMs` more. */
  async renew({ owner, key }: IdempotencyClaim, leaseOwner: string, leaseMs: number): Promise<void> {
    await this.database.execute(
      `UPDATE idempotent_answers SET lease_until = now() + make_interval(secs => $4)
       WHERE owner = $1 AND key = $2 AND lease_owner = $3`,
      [owner, key, leaseOwner, leaseMs / 1_000],
    );
  }

  async keep({ owner, key }: IdempotencyClaim, leaseOwner: string, answer: KeptAnswer): Promise<void> {
    await this.database.execute(
      'UPDATE idempotent_answers SET answer = $4 WHERE owner = $1 AND key = $2 AND lease_owner = $3',
      [owner, key, leaseOwner, toPostgresJson(answer)],
    );
  }

  /** Lets go of a key without an answer. */
  async release({ owner, key }: IdempotencyClaim, leaseOwner: string): Promise<void> {
    await this.database.execute(
      `DELETE FROM idempotent_answers
       WHERE owner = $1 AND key = $2 AND lease_owner = $3 AND answer IS NULL`,
      [owner, key, leaseOwner],
    );
  }

  /** Removes answers older than `maxAgeMs`, and of each owner the oldest beyond `maxBytes` together. */
  async deleteBeyond(maxAgeMs: number, maxBytes: number): Promise<number> {
    return this.database.execute(
      `DELETE FROM idempotent_answers USING (
         SELECT owner, key, created_at < now() - make_interval(secs => $1) AS is_old,
                sum(pg_column_size(answer)) OVER (PARTITION BY owner ORDER BY created_at DESC, key) AS bytes
         FROM idempotent_answers
       ) AS found
       WHERE idempotent_answers.owner = found.owner AND idempotent_answers.key = found.key
         AND (found.is_old OR found.bytes > $2)`,
      [maxAgeMs / 1_000, maxBytes],
    );
  }
}

/** Secrets that the processes of one installation share. */
export class SecretsRepository {
  constructor(private readonly database: Database) {}

  /** Returns the secret of a name; stores `fresh` if there is not one yet. All callers get the same secret. */
  async getOrCreate(name: string, fresh: Uint8Array): Promise<Buffer> {
    return this.database.transaction(async (transaction) => {
      await transaction.execute('INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
        name,
        Buffer.from(fresh),
      ]);
      const [row] = await transaction.query<{ value: Buffer }>('SELECT value FROM secrets WHERE name = $1', [
        name,
      ]);
      return Buffer.from(row!.value);
    });
  }
}

/** A passage that an answer cites, and its document where it is known. */
export interface CitedPassage {
  id: string;
  document?: string;
}

/** The passages that the answers of chats cite, by a hash of the answer. */
export class CitedPassagesRepository {
  constructor(private readonly database: Database) {}

  /** Keeps the passages of an answer, in place of those of an equal one before. */
  async keep(key: string, passages: readonly CitedPassage[]): Promise<void> {
    await this.database.execute(
      `INSERT INTO cited_passages (key, passages) VALUES ($1, $2)
       ON CONFLICT (key) DO UPDATE SET passages = excluded.passages, created_at = now()`,
      [key, toPostgresJson(passages)],
    );
  }

  /** Finds the passages of answers. Answers without an entry are not in the result. */
  async find(keys: readonly string[]): Promise<Map<string, readonly CitedPassage[]>> {
    const rows = await this.database.query<{ key: string; passages: CitedPassage[] }>(
      'SELECT key, passages FROM cited_passages WHERE key = ANY ($1)',
      [keys],
    );
    return new Map(rows.map(({ key, passages }) => [key, passages]));
  }

  /** Removes entries older than `maxAgeMs`, and the oldest beyond `maxCount`. */
  async deleteBeyond(maxAgeMs: number, maxCount: number): Promise<number> {
    return this.database.execute(
      `DELETE FROM cited_passages WHERE created_at < now() - make_interval(secs => $1)
         OR key IN (SELECT key FROM cited_passages ORDER BY created_at DESC, key OFFSET $2)`,
      [maxAgeMs / 1_000, maxCount],
    );
  }
}
