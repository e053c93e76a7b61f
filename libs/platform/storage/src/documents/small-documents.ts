import { MegaNestError } from '#platform/contracts';
import { insertChunksStatement, type NewChunk } from './chunk-writer.js';
import type { Database } from '../database.js';
import type { DocumentVersion, ReplaceOutcome } from './document.js';
import {
  bytesOf,
  documentColumns,
  documentColumnTypes,
  documentValues,
  findVersions,
  isSame,
  unchanged,
  type WrittenDocument,
} from './document-writer.js';
import { GroupedCalls } from './grouped-calls.js';
import { SqlParameters, type Transaction } from '../transaction.js';

/** Limits of one transaction. */
const most = { documents: 64, chunks: 50 };

interface Small {
  document: WrittenDocument;
  chunks: readonly NewChunk[];
}

/** Stores small documents, each in place of its earlier version. Documents that arrive together share a transaction. */
export function smallDocuments(database: Database): GroupedCalls<Small, ReplaceOutcome> {
  return new GroupedCalls({
    maxRunning: 2,
    joins: joinsTransaction,
    work: (together) => database.transaction((transaction) => writeTogether(transaction, together)),
  });
}

/** Of several documents with one name, only the first joins. */
function joinsTransaction(): (small: Small) => boolean {
  const names = new Set<string>();
  let sum = 0;
  return ({ document, chunks }) => {
    const name = keyOf(document);
    const isFull = names.size >= most.documents || (names.size > 0 && sum + chunks.length > most.chunks);
    if (isFull || names.has(name)) return false;
    names.add(name);
    sum += chunks.length;
    return true;
  };
}

const keyOf = ({ collection, filename, owner }: WrittenDocument) =>
  JSON.stringify([collection, filename, owner ?? null]);

async function writeTogether(
  transaction: Transaction,
  given: readonly Small[],
): Promise<(ReplaceOutcome | MegaNestError)[]> {
  const present = await findLocked(transaction, given);
  const outcomes: (ReplaceOutcome | MegaNestError)[] = [];
  const written: Small[] = [];
  for (const [index, small] of given.entries()) {
    const { document, chunks } = small;
    const known = present[index];
    try {
      if (known && isSame(known, document)) outcomes.push(unchanged(known));
      else {
        await document.room.require(transaction, document, bytesOf(chunks));
        const outcome = known ? 'replaced' : 'added';
        outcomes.push({ documentId: document.id, chunks: chunks.length, outcome });
        written.push(small);
      }
    } catch (error) {
      if (!(error instanceof MegaNestError) || error.code !== 'payload_too_large') throw error;
      outcomes.push(error);
    }
  }
  const replaced = present.filter((known, index) => known && written.includes(given[index]!));
  if (replaced.length > 0)
    await transaction.execute('DELETE FROM documents WHERE id = ANY ($1::uuid[])', [
      replaced.map((known) => known!.id),
    ]);
  if (written.length > 0) await insert(transaction, written);
  return outcomes;
}

/** Returns the documents to replace, in the given order; uploads of one name wait for each other until the commit. */
async function findLocked(
  transaction: Transaction,
  given: readonly Small[],
): Promise<(DocumentVersion | undefined)[]> {
  // All transactions use one order, so that two of them do not wait for each other.
  await transaction.query(
    `SELECT pg_advisory_xact_lock(one, two) FROM (
       SELECT DISTINCT hashtext(collection) AS one, hashtext(filename) AS two
       FROM unnest($1::text[], $2::text[]) AS given (collection, filename) ORDER BY 1, 2
     ) AS locks`,
    [given.map(({ document }) => document.collection), given.map(({ document }) => document.filename)],
  );
  return findVersions(
    transaction,
    given.map(({ document }) => document),
  );
}

/** Inserts the documents, their chunks and their counts in one statement. */
async function insert(transaction: Transaction, written: readonly Small[]): Promise<void> {
  const parameters = new SqlParameters();
  const rows = written.map(({ document, chunks }) => documentValues(document, chunks));
  const columns = documentColumnTypes.map((type, column) => {
    const values = rows.map((row) => row[column] as string | number | null);
    return `${parameters.add(values)}::${type}[]`;
  });
  const runs = written.map(({ document, chunks }) => ({ document, chunks, first: 0 }));
  await transaction.execute(
    `WITH stored AS (
       ${insertChunksStatement(parameters, runs)} RETURNING document_id, length(search) AS lexemes
     ), counted AS (
       SELECT document_id, count(*) AS chunks, sum(lexemes) AS lexemes FROM stored GROUP BY document_id
     )
     INSERT INTO documents (${documentColumns}, chunk_count, lexeme_count)
     SELECT given.*, coalesce(counted.chunks, 0), coalesce(counted.lexemes, 0)
     FROM unnest(${columns.join(', ')}) AS given (id) LEFT JOIN counted ON counted.document_id = given.id`,
    parameters.values,
  );
}
