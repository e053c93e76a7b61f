import { MegaNestError } from '#platform/contracts';
import { retry } from '#platform/foundation';
import { insertChunks, type NewChunk } from './chunk-writer.js';
import type { Database } from '../database.js';
import type { DocumentRoom, DocumentVersion, NewDocument, ReplaceOutcome } from './document.js';
import { toPostgresJson, type SqlValue, type Transaction } from '../transaction.js';

/** A document with its id and collection. */
export type WrittenDocument = NewDocument & {
  id: string;
  collection: string;
  /** Limits the stored bytes of its owner. */
  room: DocumentRoom;
};

/** The key of a document. */
export type DocumentName = Pick<WrittenDocument, 'collection' | 'owner' | 'filename'>;

/** Inserting this number of chunks takes a tenth of a second. */
export const chunksPerTransaction = 50;
/** Pending documents of a process that died are removed after this long. */
const abandonedAfter = '1 hour';
/** Time for which a part of a large document is retried while the database is unavailable, or has no free connection. */
const partPatienceMs = 60_000;
const partPauses = { firstMs: 250, maxMs: 5_000 };

/** The visible documents of these names, in their order. */
export async function findVersions(
  transaction: Transaction,
  names: readonly DocumentName[],
): Promise<(DocumentVersion | undefined)[]> {
  const rows = await transaction.query<DocumentVersion & { number: number }>(
    `SELECT number::integer, id, content_hash AS "contentHash", embedding_model AS "embeddingModel", chunk_count AS chunks,
       reading
     FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS given (collection, filename, owner, number),
       LATERAL (SELECT * FROM documents
         WHERE documents.collection = given.collection AND documents.filename = given.filename
           AND documents.owner IS NOT DISTINCT FROM given.owner AND pending_since IS NULL) AS present`,
    [
      names.map(({ collection }) => collection),
      names.map(({ filename }) => filename),
      names.map(({ owner }) => owner ?? null),
    ],
  );
  const found: (DocumentVersion | undefined)[] = names.map(() => undefined);
  for (const { number, ...version } of rows) found[number - 1] = version;
  return found;
}

/**
 * Writes a large document part by part: it is pending at first, and becomes visible in one step. A part is written again
 * while the database is unavailable. If a part fails, the written parts are removed.
 */
export async function writeInParts(
  database: Pick<Database, 'transaction'>,
  document: WrittenDocument,
  parts: AsyncIterable<readonly NewChunk[]>,
): Promise<ReplaceOutcome> {
  let written = 0;
  try {
    for await (const part of parts) {
      await withRetries(async (isRetry) =>
        database.transaction(async (transaction) => {
          // The commit of the earlier attempt may have been lost, or only its answer.
          if (isRetry && (await isWritten(transaction, document, written))) return;
          await document.room.require(transaction, document, bytesOf(part));
          if (written === 0) await insertPending(transaction, document, part);
          else await growPending(transaction, document, part);
          await insertChunks(transaction, { document, chunks: part, first: written });
        }),
      );
      written += part.length;
    }
    return await withRetries(async () =>
      database.transaction(async (transaction) => {
        const present = await findLocked(transaction, document);
        if (present?.id === document.id) return { ...unchanged(present), outcome: 'added' as const };
        if (!present || !isSame(present, document)) return publish(transaction, document, present);
        await remove(transaction, document.id);
        return unchanged(present);
      }),
    );
  } catch (error) {
    await database.transaction((transaction) => remove(transaction, document.id)).catch(() => undefined);
    throw error;
  }
}

/** Retries work for {@link partPatienceMs} while the database is unavailable. */
async function withRetries<Result>(work: (isRetry: boolean) => Promise<Result>): Promise<Result> {
  const until = Date.now() + partPatienceMs;
  return retry({ ...partPauses, isRetryable: isAway, until }, (attempt) => work(attempt > 1));
}

/** An error without a cause is not from the database. */
function isAway(error: unknown): boolean {
  const { code, cause } = error instanceof MegaNestError ? error : {};
  return code === 'service_unavailable' && cause !== undefined;
}

async function isWritten(
  transaction: Transaction,
  { id }: WrittenDocument,
  position: number,
): Promise<boolean> {
  const [found] = await transaction.query(
    'SELECT FROM chunks WHERE document_id = $1 AND position = $2 LIMIT 1',
    [id, position],
  );
  return found !== undefined;
}

/** Returns the document to replace; uploads of one name wait for each other until the transaction ends. */
async function findLocked(
  transaction: Transaction,
  document: WrittenDocument,
): Promise<DocumentVersion | undefined> {
  const lock = 'SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))';
  await transaction.query(lock, [document.collection, document.filename]);
  const [present] = await findVersions(transaction, [document]);
  return present;
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

const documentTypes = {
  id: 'uuid',
  collection: 'text',
  filename: 'text',
  source: 'text',
  content_hash: 'text',
  mime_type: 'text',
  bytes: 'bigint',
  metadata: 'jsonb',
  embedding_model: 'text',
  embedding_dimensions: 'integer',
  owner: 'text',
  stored_bytes: 'bigint',
  reading: 'jsonb',
};
/** The columns of {@link documentValues}, in their order. */
export const documentColumns = Object.keys(documentTypes).join(', ');
/** Their types. */
export const documentColumnTypes = Object.values(documentTypes);

/** The column values of a document with these chunks; a pending document gets more chunks later. */
export function documentValues(document: WrittenDocument, chunks: readonly NewChunk[]): SqlValue[] {
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
    toPostgresJson(document.reading ?? {}),
  ];
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

/** Counts another part, and renews `pending_since` to show that the writer is alive. Errors: service_unavailable. */
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

/** Returns the bytes of passages and their vectors. */
export function bytesOf(chunks: readonly NewChunk[]): number {
  return chunks.reduce((sum, { text, embedding }) => sum + Buffer.byteLength(text) + embedding.byteLength, 0);
}

async function remove(transaction: Transaction, id: string): Promise<void> {
  await transaction.execute('DELETE FROM documents WHERE id = $1', [id]);
}

/** True if the stored document is the same. */
export function isSame(present: DocumentVersion, document: NewDocument): boolean {
  return present.contentHash === document.contentHash && present.embeddingModel === document.embeddingModel;
}

/** The outcome for a document that is already stored. */
export function unchanged({ id, chunks }: DocumentVersion): ReplaceOutcome {
  return { documentId: id, chunks, outcome: 'unchanged' };
}
