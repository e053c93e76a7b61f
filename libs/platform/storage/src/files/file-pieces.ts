import type { Database } from '../database.js';
import type { Transaction } from '../transaction.js';

/**
 * Bytes of a row's content. It is small enough that PGlite's one session is free again soon, and large enough that a
 * file of a megabyte takes four transactions.
 */
const pieceBytes = 256 * 1024;

/** Regroups a stream into pieces of equal size. */
export async function* evenPieces(
  content: AsyncIterable<Uint8Array>,
  size = pieceBytes,
): AsyncGenerator<Buffer, void, void> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of content) {
    held.push(part);
    bytes += part.length;
    if (bytes < size) continue;
    const joined = Buffer.concat(held);
    const whole = joined.length - (joined.length % size);
    for (let start = 0; start < whole; start += size) yield joined.subarray(start, start + size);
    held = whole < joined.length ? [joined.subarray(whole)] : [];
    bytes = joined.length - whole;
  }
  if (bytes > 0) yield Buffer.concat(held);
}

/**
 * Writes the content of a pending file, a transaction per piece; each renews `pending_since`. Returns the size of the
 * file. `check` runs at the beginning of each transaction with the bytes to write; its error ends the writing.
 */
export async function writePieces(
  database: Database,
  fileId: string,
  content: AsyncIterable<Uint8Array>,
  check: (transaction: Transaction, bytes: number) => Promise<void>,
): Promise<number> {
  let start = 0;
  for await (const piece of evenPieces(content)) {
    await database.transaction(async (transaction) => {
      await check(transaction, piece.length);
      await transaction.execute(
        'UPDATE files SET pending_since = now(), writing = writing + $2 WHERE id = $1',
        [fileId, piece.length],
      );
      await transaction.execute('INSERT INTO file_pieces (file_id, start, content) VALUES ($1, $2, $3)', [
        fileId,
        start,
        piece,
      ]);
    });
    start += piece.length;
  }
  return start;
}

/** Returns the piece that begins at a byte; undefined if there is not any. */
export async function readPiece(
  database: Database,
  fileId: string,
  start: number,
): Promise<Buffer | undefined> {
  const [row] = await database.query<{ content: Buffer }>(
    'SELECT content FROM file_pieces WHERE file_id = $1 AND start = $2',
    [fileId, start],
  );
  return row?.content;
}
