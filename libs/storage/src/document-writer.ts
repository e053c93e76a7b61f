import { MegaNestError } from '#contracts';
import { insertChunks, insertChunksStatement, type NewChunk } from './chunk-writer.js';
import type { Database } from './database.js';
import type { DocumentRoom, DocumentVersion, NewDocument, ReplaceOutcome } from './document.js';
import { toPostgresJson } from './postgres-text.js';
import { SqlParameters, type SqlValue, type Transaction } from './transaction.js';

/** A document whose id and collection are decided. */
export type WrittenDocument = NewDocument & {
  id: string;
  collection: string;
  /** Bounds what its owner keeps. */
  room: DocumentRoom;
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
  await document.room.require(transaction, document, bytesOf(chunks));
  if (present) await remove(transaction, present.id);
  await insertVisible(transaction, document, chunks);
  return { documentId: document.id, chunks: chunks.length, outcome: present ? 'replaced' : 'added' };
}

/**
 * Writes a large document part by part as the parts come: pending at first, then visible in one step. What was written goes
 * when a part fails or cannot be made.
 */
export async function writeInParts(
  database: Database,
  document: WrittenDocument,
  parts: AsyncIterable<readonly NewChunk[]>,
): Promise<ReplaceOutcome> {
  let written = 0;
  try {
    for await (const part of parts) {
      await database.transaction(async (transaction) => {
        await document.room.require(transaction, document, bytesOf(part));
        if (written === 0) await insertPending(transaction, document, part);
        else await growPending(transaction, document, part);
        await insertChunks(transaction, document, part, written);
      });
      written += part.length;
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

const documentColumns = `id, collection, filename, source, content_hash, mime_type, bytes, metadata,
  embedding_model, embedding_dimensions, owner, stored_bytes`;

function documentValues(document: WrittenDocument, chunks: readonly NewChunk[]): SqlValue[] {
  return [
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
    bytesOf(chunks),
  ];
}

/** The document, its chunks and their counts in one statement: a small document costs few round trips. */
async function insertVisible(
  transaction: Transaction,
  document: WrittenDocument,
  chunks: readonly NewChunk[],
): Promise<void> {
  const parameters = new SqlParameters();
  const values = documentValues(document, chunks).map((value) => parameters.add(value));
  const stored =
    chunks.length > 0
      ? `${insertChunksStatement(parameters, document, chunks, 0)} RETURNING length(search) AS lexemes`
      : 'SELECT 0 AS lexemes WHERE false';
  await transaction.execute(
    `WITH stored AS (${stored})
     INSERT INTO documents (${documentColumns}, chunk_count, lexeme_count)
     SELECT ${castDocumentValues(values)}, count(*), coalesce(sum(lexemes), 0) FROM stored`,
    parameters.values,
  );
}

/** Parameters of a SELECT have no column that tells their types. */
function castDocumentValues(values: readonly string[]): string {
  const types = 'uuid text text text text text bigint jsonb text integer text bigint'.split(' ');
  return values.map((value, index) => `${value}::${types[index]}`).join(', ');
}

async function insertPending(
  transaction: Transaction,
  document: WrittenDocument,
  chunks: readonly NewChunk[],
): Promise<void> {
  await transaction.execute(
    `DELETE FROM documents WHERE pending_since < now() - interval '${abandonedAfter}'`,
  );
  const values = documentValues(document, chunks);
  await transaction.execute(
    `INSERT INTO documents (${documentColumns}, pending_since)
     VALUES (${values.map((_value, index) => `$${index + 1}`).join(', ')}, now())`,
    values,
  );
}

/** Counts another part; `pending_since` then tells that its writer still lives. Errors: service_unavailable. */
async function growPending(
  transaction: Transaction,
  { id }: WrittenDocument,
  chunks: readonly NewChunk[],
): Promise<void> {
  const grown = await transaction.execute(
    'UPDATE documents SET stored_bytes = stored_bytes + $2, pending_since = now() WHERE id = $1',
    [id, bytesOf(chunks)],
  );
  if (grown === 1) return;
  const detail = 'the document was removed while it was written';
  throw new MegaNestError('service_unavailable', { service: 'postgres', detail, retryAfter: 1 });
}

/** Passages and their vectors. */
function bytesOf(chunks: readonly NewChunk[]): number {
  return chunks.reduce((sum, { text, embedding }) => sum + Buffer.byteLength(text) + embedding.byteLength, 0);
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
