import { MegaNestError } from '#contracts';
import type { Transaction } from '../transaction.js';

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
