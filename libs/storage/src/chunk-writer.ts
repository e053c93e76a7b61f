import { randomUUID } from 'node:crypto';
import { MegaNestError } from '#contracts';
import { toPostgresJson } from './postgres-text.js';
import { SqlParameters, type Transaction } from './transaction.js';
import { encodeVectorParameter, requireUsableVector } from './vectors.js';

export interface NewChunk {
  text: string;
  /** Title, heading and what else the chunk knows of itself; the document's facts are added on storing. */
  metadata?: Record<string, unknown>;
  embedding: Float32Array;
}

/** What of its document each chunk repeats in its metadata. */
export interface ChunkOwner {
  id: string;
  collection: string;
  filename: string;
  source?: string;
  metadata?: Record<string, unknown>;
}

/** Rows per INSERT: few round trips, messages well below a megabyte. */
const rowsPerStatement = 100;

/** Inserts the chunks in their order and writes the document's counts. */
export async function insertChunks(
  transaction: Transaction,
  owner: ChunkOwner,
  chunks: readonly NewChunk[],
): Promise<void> {
  const dimensions = chunks[0]?.embedding.length ?? 0;
  chunks.forEach((chunk, position) => requireFittingEmbedding(chunk, position, dimensions));
  for (let start = 0; start < chunks.length; start += rowsPerStatement) {
    await insertRows(transaction, owner, chunks.slice(start, start + rowsPerStatement), start);
  }
  await transaction.execute(
    `UPDATE documents SET (chunk_count, lexeme_count) =
       (SELECT count(*), coalesce(sum(length(search)), 0) FROM chunks WHERE document_id = $1) WHERE id = $1`,
    [owner.id],
  );
}

function requireFittingEmbedding(chunk: NewChunk, position: number, dimensions: number): void {
  const param = `chunks.${position}.embedding`;
  requireUsableVector(chunk.embedding, param);
  if (chunk.embedding.length === dimensions) return;
  const detail = `${param}: has ${chunk.embedding.length} dimensions, the first chunk has ${dimensions}`;
  throw new MegaNestError('invalid_request', { detail, param });
}

async function insertRows(
  transaction: Transaction,
  owner: ChunkOwner,
  chunks: readonly NewChunk[],
  firstPosition: number,
): Promise<void> {
  const parameters = new SqlParameters();
  const [documentId, collection] = [parameters.add(owner.id), parameters.add(owner.collection)];
  const rows = chunks.map((chunk, index) => {
    const position = firstPosition + index;
    const columns = [
      parameters.add(randomUUID()),
      documentId,
      collection,
      parameters.add(position),
      parameters.add(chunk.text),
      parameters.add(toPostgresJson(chunkMetadata(owner, chunk, position))),
      parameters.add(encodeVectorParameter(chunk.embedding)),
    ];
    return `(${columns.join(', ')})`;
  });
  await transaction.execute(
    `INSERT INTO chunks (id, document_id, collection, position, text, metadata, embedding) VALUES ${rows.join(', ')}`,
    parameters.values,
  );
}

function chunkMetadata(owner: ChunkOwner, chunk: NewChunk, position: number): Record<string, unknown> {
  return {
    ...owner.metadata,
    ...chunk.metadata,
    document_id: owner.id,
    filename: owner.filename,
    ...(owner.source !== undefined && { source: owner.source }),
    chunk_index: position,
  };
}
