import { MegaNestError } from '#contracts';
import type { Database } from '../database.js';
import type { Transaction } from '../transaction.js';

/** How much of a kind one owner may keep; 0: without bound. */
export interface KeptLimits {
  maxCount: number;
  maxBytes: number;
}

/** A kind of which the oldest of an owner go first. */
export type KeptTable = 'responses' | 'stored_completions';

const isOver: Record<KeptTable, string> = {
  responses: 'finished_at IS NOT NULL',
  stored_completions: 'true',
};

/** Owners whose usage is remembered. */
const mostKnown = 10_000;
/** A removal makes room for a while, so that not each further one has to look at everything. */
const slack = 0.1;

/** Removes of an owner, or of each, the oldest beyond the limits; the youngest always stays. Answers how many went. */
export function removeBeyond(
  transaction: Transaction,
  table: KeptTable,
  { maxCount, maxBytes }: KeptLimits,
  owner: string | null = null,
): Promise<number> {
  return transaction.execute(
    `DELETE FROM ${table} WHERE ${isOver[table]} AND id IN (
       SELECT id FROM (
         SELECT id, row_number() OVER latest AS rank, sum(bytes) OVER latest AS kept
         FROM ${table} WHERE $3::text IS NULL OR owner = $3
         WINDOW latest AS (PARTITION BY owner ORDER BY created_at DESC, id DESC)
       ) AS ranked
       WHERE ($1::bigint > 0 AND rank > $1::bigint) OR ($2::bigint > 0 AND rank > 1 AND kept > $2::bigint))`,
    [maxCount, Math.floor(maxBytes), owner],
  );
}

/**
 * Keeps each owner within the limits while more is written. A process counts what it writes itself, from what the database had
 * when it first saw the owner; beyond a limit it removes the oldest of that owner. So a limit may be passed by a tenth.
 */
export class KeptBounds {
  readonly #known = new Map<string, { count: number; bytes: number }>();

  constructor(
    private readonly database: Database,
    private readonly table: KeptTable,
    private readonly limits: KeptLimits,
  ) {}

  /** To be called after a write. Where it fails, the next call, or the regular removal, does it. */
  async added(owner: string, bytes: number): Promise<void> {
    const { maxCount, maxBytes } = this.limits;
    if (maxCount === 0 && maxBytes === 0) return;
    const known = this.#known.get(owner);
    if (!known) return this.#look(owner);
    known.count += 1;
    known.bytes += bytes;
    const tooMany = maxCount > 0 && known.count > Math.ceil(maxCount * (1 + slack));
    if (tooMany || (maxBytes > 0 && known.bytes > maxBytes)) await this.#look(owner);
  }

  async #look(owner: string): Promise<void> {
    const { maxCount, maxBytes } = this.limits;
    try {
      const usage = await this.database.transaction(async (transaction) => {
        const before = await this.#usage(transaction, owner);
        const isTooMuch = maxBytes > 0 && before.bytes > maxBytes;
        const isTooMany = maxCount > 0 && before.count > maxCount;
        if (!isTooMuch && !isTooMany) return before;
        const bytesLeft = isTooMuch ? maxBytes * (1 - slack) : maxBytes;
        await removeBeyond(transaction, this.table, { maxCount, maxBytes: bytesLeft }, owner);
        return this.#usage(transaction, owner);
      });
      if (this.#known.size >= mostKnown) this.#known.clear();
      this.#known.set(owner, usage);
    } catch {
      this.#known.delete(owner);
    }
  }

  async #usage(transaction: Transaction, owner: string): Promise<{ count: number; bytes: number }> {
    const [usage] = await transaction.query<{ count: number; bytes: number }>(
      `SELECT count(*)::float8 AS count, coalesce(sum(bytes), 0)::float8 AS bytes FROM ${this.table} WHERE owner = $1`,
      [owner],
    );
    return usage!;
  }
}

/** What a row takes beside its content. */
const rowBytes = 1_024;

/**
 * Errors: payload_too_large where an owner's conversations and records would have more than `maxBytes` (0: no bound) with
 * `more` bytes in `rows` more of them. Others of the same owner wait until the transaction ends.
 */
export async function requireRoom(
  transaction: Transaction,
  owner: string,
  { maxBytes, more, rows = 0 }: { maxBytes: number; more: number; rows?: number },
): Promise<void> {
  if (maxBytes === 0) return;
  await transaction.query(`SELECT pg_advisory_xact_lock(hashtext('conversations'), hashtext($1))`, [owner]);
  const [row] = await transaction.query<{ bytes: string }>(
    `SELECT (SELECT coalesce(sum(bytes + ${rowBytes}), 0) FROM conversations WHERE owner = $1)
          + (SELECT coalesce(sum(bytes + ${rowBytes}), 0) FROM user_records WHERE owner = $1) AS bytes`,
    [owner],
  );
  if (Number(row?.bytes) + more + rows * rowBytes <= maxBytes) return;
  throw new MegaNestError('payload_too_large', {
    what: 'What is kept in conversations and records, with this request,',
    limit: `${maxBytes} bytes of CONVERSATIONS_LIMIT_BYTES; delete some`,
  });
}
