import { randomUUID } from 'node:crypto';
import { invalidField } from '#contracts';
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
  owner?: string;
  filename: string;
  source?: string;
  metadata?: Record<string, unknown>;
}

/**
 * Refuses what no search could compare; `first` is the position of the first of these chunks in its document, `dimensions`
 * the width of the document's vectors. Errors: invalid_request at `chunks[N].embedding`.
 */
export function requireFittingEmbeddings(
  chunks: readonly NewChunk[],
  { first, dimensions }: { first: number; dimensions: number },
): void {
  for (const [index, { embedding }] of chunks.entries()) {
    const param = `chunks[${first + index}].embedding`;
    requireUsableVector(embedding, param);
    if (embedding.length !== dimensions)
      throw invalidField(param, `has ${embedding.length} dimensions, the first chunk has ${dimensions}`);
  }
}

/** Inserts chunks that follow each other from `firstPosition` on, in one statement: a hundred or so at most. */
export async function insertChunks(
  transaction: Transaction,
  owner: ChunkOwner,
  chunks: readonly NewChunk[],
  firstPosition: number,
): Promise<void> {
  if (chunks.length === 0) return;
  const parameters = new SqlParameters();
  const statement = insertChunksStatement(parameters, owner, chunks, firstPosition);
  await transaction.execute(statement, parameters.values);
}

/** The statement of {@link insertChunks}, for one that does more; at least one chunk. */
export function insertChunksStatement(
  parameters: SqlParameters,
  owner: ChunkOwner,
  chunks: readonly NewChunk[],
  firstPosition: number,
): string {
  const shared = [owner.id, owner.collection, owner.owner ?? null].map((value) => parameters.add(value));
  const rows = chunks.map((chunk, index) => {
    const position = firstPosition + index;
    const columns = [
      parameters.add(randomUUID()),
      ...shared,
      parameters.add(position),
      parameters.add(chunk.text),
      parameters.add(toPostgresJson(chunkMetadata(owner, chunk, position))),
      parameters.add(encodeVectorParameter(chunk.embedding)),
    ];
    return `(${columns.join(', ')})`;
  });
  return `INSERT INTO chunks (id, document_id, collection, owner, position, text, metadata, embedding) VALUES ${rows.join(', ')}`;
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
