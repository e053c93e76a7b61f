import { MegaNestError } from '#contracts';
import { insertChunks, type NewChunk } from './chunk-writer.js';
import type { Database } from './database.js';
import type { DocumentVersion, NewDocument, ReplaceOutcome } from './document.js';
import { toPostgresJson } from './postgres-text.js';
import type { Transaction } from './transaction.js';

/** A document whose id and collection are decided. */
type WrittenDocument = NewDocument & {
  id: string;
  collection: string;
  /** Of all documents of its owner; 0: no bound. */
  maxBytes: number;
};

/** Inserting so many takes a fraction of a second, also where every vector goes into an index. */
export const chunksPerTransaction = 25;
/** Pending documents of a process that died are removed after this long. */
const abandonedAfter = '1 hour';

/** The visible document of that name. */
export async function findVersion(
  transaction: Transaction,
  { collection, owner, filename }: Pick<WrittenDocument, 'collection' | 'owner' | 'filename'>,
): Promise<DocumentVersion | undefined> {
  const [row] = await transaction.query<DocumentVersion>(
    `SELECT id, content_hash AS "contentHash", embedding_model AS "embeddingModel", chunk_count AS chunks
     FROM documents WHERE collection = $1 AND filename = $2 AND owner IS NOT DISTINCT FROM $3 AND pending_since IS NULL`,
    [collection, filename, owner ?? null],
  );
  return row;
}

/** Writes a small document: all in the given transaction. */
export async function writeAtOnce(
  transaction: Transaction,
  document: WrittenDocument,
  chunks: readonly NewChunk[],
): Promise<ReplaceOutcome> {
  const present = await findLocked(transaction, document);
  if (present && isSame(present, document)) return unchanged(present);
  await insertPending(transaction, document, chunks);
  await insertChunks(transaction, document, chunks, 0);
  return publish(transaction, document, present);
}

/** Writes a large document: pending, in parts, then visible in one step. What was written goes when it fails. */
export async function writeInParts(
  database: Database,
  document: WrittenDocument,
  chunks: readonly NewChunk[],
): Promise<ReplaceOutcome> {
  await database.transaction((transaction) => insertPending(transaction, document, chunks));
  try {
    for (let start = 0; start < chunks.length; start += chunksPerTransaction) {
      const part = chunks.slice(start, start + chunksPerTransaction);
      await database.transaction((transaction) => insertChunks(transaction, document, part, start));
    }
    return await database.transaction(async (transaction) => {
      const present = await findLocked(transaction, document);
      if (!present || !isSame(present, document)) return publish(transaction, document, present);
      await remove(transaction, document.id);
      return unchanged(present);
    });
  } catch (error) {
    await database.transaction((transaction) => remove(transaction, document.id)).catch(() => undefined);
    throw error;
  }
}

/** The document to be replaced; uploads of one name wait for each other until the transaction ends. */
async function findLocked(
  transaction: Transaction,
  document: WrittenDocument,
): Promise<DocumentVersion | undefined> {
  const lock = 'SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))';
  await transaction.query(lock, [document.collection, document.filename]);
  return findVersion(transaction, document);
}

async function publish(
  transaction: Transaction,
  { id }: WrittenDocument,
  present: DocumentVersion | undefined,
): Promise<ReplaceOutcome> {
  if (present) await remove(transaction, present.id);
  const [row] = await transaction.query<{ chunks: number }>(
    `UPDATE documents SET pending_since = NULL, (chunk_count, lexeme_count) =
       (SELECT count(*), coalesce(sum(length(search)), 0) FROM chunks WHERE document_id = $1)
     WHERE id = $1 RETURNING chunk_count AS chunks`,
    [id],
  );
  return { documentId: id, chunks: row?.chunks ?? 0, outcome: present ? 'replaced' : 'added' };
}

async function insertPending(
  transaction: Transaction,
  document: WrittenDocument,
  chunks: readonly NewChunk[],
): Promise<void> {
  await transaction.execute(
    `DELETE FROM documents WHERE pending_since < now() - interval '${abandonedAfter}'`,
  );
  const storedBytes = bytesOf(chunks);
  await requireRoom(transaction, document, storedBytes);
  await transaction.execute(
    `INSERT INTO documents (id, collection, filename, source, content_hash, mime_type, bytes, metadata,
                            embedding_model, embedding_dimensions, owner, stored_bytes, pending_since)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, now())`,
    [
      document.id,
      document.collection,
      document.filename,
      document.source ?? null,
      document.contentHash,
      document.mimeType,
      document.bytes,
      toPostgresJson(document.metadata ?? {}),
      document.embeddingModel,
      chunks[0]?.embedding.length ?? 0,
      document.owner ?? null,
      storedBytes,
    ],
  );
}

/** Passages and their vectors. */
function bytesOf(chunks: readonly NewChunk[]): number {
  return chunks.reduce((sum, { text, embedding }) => sum + Buffer.byteLength(text) + embedding.byteLength, 0);
}

/** Errors: payload_too_large where the owner, or all who share, would have too much; the document's predecessor does not count. */
async function requireRoom(
  transaction: Transaction,
  { owner, collection, filename, maxBytes }: WrittenDocument,
  more: number,
): Promise<void> {
  if (maxBytes === 0) return;
  await transaction.query(`SELECT pg_advisory_xact_lock(hashtext('documents'), hashtext($1))`, [owner ?? '']);
  const [row] = await transaction.query<{ bytes: string }>(
    `SELECT coalesce(sum(stored_bytes), 0) AS bytes FROM documents
     WHERE owner IS NOT DISTINCT FROM $1 AND NOT (collection = $2 AND filename = $3 AND pending_since IS NULL)`,
    [owner ?? null, collection, filename],
  );
  if (Number(row?.bytes) + more <= maxBytes) return;
  throw new MegaNestError('payload_too_large', {
    what: `What is stored of documents, with ${filename},`,
    limit: `${maxBytes} bytes of DOCUMENTS_LIMIT_BYTES; delete some`,
  });
}

async function remove(transaction: Transaction, id: string): Promise<void> {
  await transaction.execute('DELETE FROM documents WHERE id = $1', [id]);
}

function isSame(present: DocumentVersion, document: NewDocument): boolean {
  return present.contentHash === document.contentHash && present.embeddingModel === document.embeddingModel;
}

function unchanged({ id, chunks }: DocumentVersion): ReplaceOutcome {
  return { documentId: id, chunks, outcome: 'unchanged' };
}
