import { MegaNestError } from '#platform/contracts';
import type { Database } from '../database.js';
import type { Transaction } from '../transaction.js';

/** Limits of a kind of objects per owner; 0: unlimited. */
export interface KeptLimits {
  maxCount: number;
  maxBytes: number;
}

/** A kind of which an owner's oldest objects are removed first. */
export type KeptTable = 'responses' | 'stored_completions';

const isOver: Record<KeptTable, string> = {
  responses: 'finished_at IS NOT NULL',
  stored_completions: 'true',
};

/** Maximum number of owners whose usage is cached. */
const maxKnown = 10_000;
/** A removal frees this share in addition, so that not every write leads to another removal. */
const slack = 0.1;

/** Removes the oldest objects beyond the limits, of one owner or of each. The newest stays. Returns their number. */
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
 * Enforces the limits of each owner on writes. A process adds its own writes to the usage that it first read from the
 * database; beyond a limit it removes the oldest objects of that owner. So a limit may be exceeded by a tenth.
 */
export class KeptBounds {
  readonly #known = new Map<string, { count: number; bytes: number }>();

  constructor(
    private readonly database: Database,
    private readonly table: KeptTable,
    private readonly limits: KeptLimits,
  ) {}

  /** Call this after a write. If it fails, the next call or the regular removal does the work. */
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
      if (this.#known.size >= maxKnown) this.#known.clear();
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

/** Bytes of a row in addition to its content. */
const rowBytes = 1_024;

/**
 * Checks that `more` bytes in `rows` further rows fit into `maxBytes` (0: unlimited) of the owner's conversations and
 * records. Other writes of the owner wait until the transaction ends. Errors: payload_too_large.
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
    what: 'The total size of the stored conversations and records with this request',
    limit: `${maxBytes} bytes of CONVERSATIONS_LIMIT_BYTES; delete some`,
  });
}
