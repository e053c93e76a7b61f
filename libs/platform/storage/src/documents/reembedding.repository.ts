import type { BackgroundIndexer } from '../background-indexer.js';
import type { Database } from '../database.js';
import type { Transaction } from '../transaction.js';
import { encodeRealArray } from '../vectors.js';
import { requireFittingEmbeddings } from './chunk-writer.js';

/** A complete document with vectors of another embedding model. */
export interface ForeignDocument {
  readonly id: string;
  readonly filename: string;
  readonly embeddingModel: string;
}

/** A stored chunk, as far as its vector depends on it. */
export interface ChunkText {
  readonly id: string;
  readonly text: string;
  readonly heading?: string;
}

/** Chunks of one statement. */
const chunksAtOnce = 200;

/** Replaces the vectors of stored documents after a change of the embedding model. */
export class ReembeddingRepository {
  constructor(
    private readonly database: Database,
    private readonly indexer: Pick<BackgroundIndexer, 'stored'>,
  ) {}

  /** The number of documents with vectors of other models. Errors: service_unavailable. */
  async count(model: string): Promise<number> {
    const [row] = await this.database.query<{ documents: number }>(
      `SELECT count(*)::float8 AS documents FROM documents WHERE ${foreign}`,
      [model],
    );
    return row?.documents ?? 0;
  }

  /** The first document with vectors of another model, in the order of the ids; `after`: an id. Errors: service_unavailable. */
  async next(model: string, after?: string): Promise<ForeignDocument | undefined> {
    const [row] = await this.database.query<ForeignDocument>(
      `SELECT id, filename, embedding_model AS "embeddingModel" FROM documents
       WHERE ${foreign} AND ($2::uuid IS NULL OR id > $2::uuid) ORDER BY id LIMIT 1`,
      [model, after ?? null],
    );
    return row;
  }

  /** The chunks of a document in their order. Errors: service_unavailable. */
  chunks(id: string): Promise<ChunkText[]> {
    return this.database.query<ChunkText>(
      `SELECT id, text, metadata->>'heading' AS heading FROM chunks WHERE document_id = $1 ORDER BY position`,
      [id],
    );
  }

  /**
   * Replaces all vectors of a document at once, so that a search never compares vectors of two models. Returns false,
   * and changes nothing, if the document was deleted or replaced since its chunks were read. Errors: invalid_request
   * for a vector without a direction, service_unavailable.
   */
  async replace(
    document: ForeignDocument,
    model: string,
    chunks: readonly { readonly id: string; readonly embedding: Float32Array }[],
  ): Promise<boolean> {
    const dimensions = chunks[0]?.embedding.length ?? 0;
    requireFittingEmbeddings(
      chunks.map(({ embedding }) => ({ text: '', embedding })),
      { first: 0, dimensions },
    );
    const collection = await this.database.transaction(async (transaction) => {
      const [row] = await transaction.query<{ collection: string; chunks: number }>(
        `SELECT collection, chunk_count AS chunks FROM documents
         WHERE id = $1 AND embedding_model = $2 AND pending_since IS NULL FOR UPDATE`,
        [document.id, document.embeddingModel],
      );
      if (row?.chunks !== chunks.length) return undefined;
      for (let first = 0; first < chunks.length; first += chunksAtOnce)
        await updateVectors(transaction, document.id, chunks.slice(first, first + chunksAtOnce));
      await transaction.execute(
        `UPDATE documents SET embedding_model = $2, embedding_dimensions = $3,
           stored_bytes = stored_bytes + 4 * chunk_count * ($3 - embedding_dimensions) WHERE id = $1`,
        [document.id, model, dimensions],
      );
      return row.collection;
    });
    if (collection === undefined) return false;
    this.indexer.stored({ collection, dimensions }, chunks.length);
    return true;
  }
}

const foreign = 'embedding_model <> $1 AND pending_since IS NULL AND chunk_count > 0';

async function updateVectors(
  transaction: Transaction,
  document: string,
  chunks: readonly { readonly id: string; readonly embedding: Float32Array }[],
): Promise<void> {
  const ids = chunks.map(({ id }) => id);
  const vectors = encodeRealArray(chunks.map(({ embedding }) => embedding));
  const width = chunks[0]!.embedding.length;
  const updated = await transaction.execute(
    `UPDATE chunks SET embedding = (($2::real[])[(place::integer - 1) * $3 + 1 : place::integer * $3])::vector
     FROM unnest($1::uuid[]) WITH ORDINALITY AS given (chunk, place)
     WHERE chunks.id = given.chunk AND chunks.document_id = $4`,
    [ids, vectors, width, document],
  );
  if (updated !== chunks.length) throw new Error(`${document} lost chunks while it was embedded again.`);
}
