import { insertChunks, type NewChunk } from './chunk-writer.js';
import type { Database } from './database.js';
import type { DocumentVersion, NewDocument, ReplaceOutcome } from './document.js';
import { toPostgresJson } from './postgres-text.js';
import type { Transaction } from './transaction.js';

/** A document whose id and collection are decided. */
type WrittenDocument = NewDocument & { id: string; collection: string };

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
  await transaction.execute(
    `INSERT INTO documents (id, collection, filename, source, content_hash, mime_type, bytes, metadata,
                            embedding_model, embedding_dimensions, owner, pending_since)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now())`,
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
    ],
  );
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
