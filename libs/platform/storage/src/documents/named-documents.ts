import type { RetrievedDocument } from '#platform/contracts';
import { SqlParameters, type Transaction } from '../transaction.js';
import { chunkCondition, type ChunkScope } from '../search/metadata-filter.js';

/** The name of a document that a search of a scope can find. */
export interface DocumentTitle {
  id: string;
  filename: string;
  title?: string;
}

/** Documents whose names are compared with a question; the newest ones of a larger collection. */
const maxNames = 10_000;

/** The documents of a scope, by their first chunk that the scope may return. */
export async function findTitles(transaction: Transaction, scope: ChunkScope): Promise<DocumentTitle[]> {
  const parameters = new SqlParameters();
  const rows = await transaction.query<{ id: string; filename: string; title: string | null }>(
    `SELECT DISTINCT ON (document_id) document_id AS id, metadata->>'filename' AS filename,
       metadata->>'title' AS title
     FROM chunks WHERE collection = ${parameters.add(scope.collection)} AND position = 0
       AND ${chunkCondition(scope, parameters)}
     ORDER BY document_id LIMIT ${maxNames}`,
    parameters.values,
  );
  return rows
    .filter(({ filename }) => typeof filename === 'string')
    .map(({ id, filename, title }) => ({ id, filename, ...(title && { title }) }));
}

/** Chunks of a document that are read in one call. */
const maxChunks = 20_000;

/** The chunks of a document in their order, within a limit of words; `isCut`: there are more. */
export async function readDocument(
  transaction: Transaction,
  scope: ChunkScope,
  { id, maxWords }: { id: string; maxWords: number },
): Promise<{ chunks: RetrievedDocument[]; isCut: boolean }> {
  const parameters = new SqlParameters();
  const rows = await transaction.query<Pick<RetrievedDocument, 'id' | 'text' | 'metadata'>>(
    `SELECT id, text, metadata FROM chunks
     WHERE document_id = ${parameters.add(id)}::uuid AND collection = ${parameters.add(scope.collection)}
       AND ${chunkCondition(scope, parameters)}
     ORDER BY position LIMIT ${maxChunks}`,
    parameters.values,
  );
  let words = 0;
  const cut = rows.findIndex(
    ({ text }, index) => (words += text.split(/\s+/).length) > maxWords && index > 0,
  );
  const chunks = (cut === -1 ? rows : rows.slice(0, cut)).map((row) => ({ ...row, score: 1 }));
  return { chunks, isCut: cut !== -1 || rows.length === maxChunks };
}
