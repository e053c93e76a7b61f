import { randomUUID } from 'node:crypto';
import { invalidField } from '#platform/contracts';
import { toPostgresJson, SqlParameters, type Transaction } from '../transaction.js';
import { encodeRealArray, requireUsableVector } from '../vectors.js';

export interface NewChunk {
  text: string;
  /** Title, heading and other metadata of the chunk; storing adds the metadata of the document. */
  metadata?: Record<string, unknown>;
  embedding: Float32Array;
}

/** The fields of the document that each chunk repeats in its metadata. */
export interface ChunkOwner {
  id: string;
  collection: string;
  owner?: string;
  filename: string;
  source?: string;
  metadata?: Record<string, unknown>;
}

/** Consecutive chunks of one document. */
export interface ChunkRun {
  document: ChunkOwner;
  chunks: readonly NewChunk[];
  /** Position of the first chunk in the document. */
  first: number;
}

/**
 * Refuses embeddings that a search cannot compare. `first` is the position of the first chunk in its document,
 * `dimensions` the width of the document's vectors. Errors: invalid_request at `chunks[N].embedding`.
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

/** Inserts chunks in one statement: about a hundred at most. */
export async function insertChunks(transaction: Transaction, run: ChunkRun): Promise<void> {
  if (run.chunks.length === 0) return;
  const parameters = new SqlParameters();
  const statement = insertChunksStatement(parameters, [run]);
  await transaction.execute(statement, parameters.values);
}

interface ChunkRow {
  document: ChunkOwner;
  chunk: NewChunk;
  position: number;
}

/**
 * The statement of {@link insertChunks}, for use within a larger statement. Its parameters are arrays, so that the text
 * is the same for any number of chunks and documents. All vectors are one array: the driver does not have a binary
 * format for arrays of vectors.
 */
export function insertChunksStatement(parameters: SqlParameters, runs: readonly ChunkRun[]): string {
  const rows: ChunkRow[] = runs.flatMap(({ document, chunks, first }) =>
    chunks.map((chunk, index) => ({ document, chunk, position: first + index })),
  );
  let end = 0;
  const ends = rows.map(({ chunk }) => (end += chunk.embedding.length));
  const column = (type: string, valueOf: (row: ChunkRow, index: number) => string | number | null) =>
    `${parameters.add(rows.map(valueOf))}::${type}[]`;
  const columns = [
    column('uuid', () => randomUUID()),
    column('uuid', ({ document }) => document.id),
    column('text', ({ document }) => document.collection),
    column('text', ({ document }) => document.owner ?? null),
    column('integer', ({ position }) => position),
    column('text', ({ chunk }) => chunk.text),
    column('jsonb', (row) => toPostgresJson(chunkMetadata(row))),
    column('integer', ({ chunk }) => chunk.embedding.length),
    column('integer', (_row, index) => ends[index]!),
  ];
  const vectors = parameters.add(encodeRealArray(rows.map(({ chunk }) => chunk.embedding)));
  return `INSERT INTO chunks (id, document_id, collection, owner, position, text, metadata, embedding)
    SELECT id, document_id, collection, owner, position, text, metadata, (${vectors}::real[])[last - width + 1 : last]::vector
    FROM unnest(${columns.join(', ')})
      AS given (id, document_id, collection, owner, position, text, metadata, width, last)`;
}

function chunkMetadata({ document, chunk, position }: ChunkRow): Record<string, unknown> {
  return {
    ...document.metadata,
    ...chunk.metadata,
    document_id: document.id,
    filename: document.filename,
    ...(document.source !== undefined && { source: document.source }),
    chunk_index: position,
  };
}
