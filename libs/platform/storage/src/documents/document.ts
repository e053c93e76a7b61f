import { MegaNestError, type ReadingReport } from '#platform/contracts';
import type { Transaction } from '../transaction.js';

/** A document to store. */
export interface NewDocument {
  /** A UUID; absent: generated. */
  id?: string;
  collection?: string;
  /** The owner of the vector store, if the collection is one; absent: the document is shared. */
  owner?: string;
  filename: string;
  /** The link it was read from. */
  source?: string;
  /**
   * Hash of everything that determines its chunks: bytes, chunking parameters, attributes. A document with the same
   * name, hash and embedding model is not stored again.
   */
  contentHash: string;
  mimeType: string;
  bytes: number;
  /** The user's attributes; every chunk has them too, so that filters match. */
  metadata?: Record<string, unknown>;
  embeddingModel: string;
  /** What was read of it, and what was not. */
  reading?: ReadingReport;
}

/** The outcome of storing a document. */
export interface ReplaceOutcome {
  documentId: string;
  chunks: number;
  outcome: 'added' | 'replaced' | 'unchanged';
}

/** The fields that determine whether a document has to be read, chunked and embedded again. */
export interface DocumentVersion {
  id: string;
  contentHash: string;
  embeddingModel: string;
  chunks: number;
  reading: ReadingReport;
}

/** Lifetime of a sum read from the database; this process adds the bytes that it writes. */
const sumLifetimeMs = 1_000;
const maxSums = 1_000;

type RoomFor = Pick<NewDocument, 'owner' | 'filename'> & { collection: string };

/**
 * Limits the bytes of the passages and vectors of one owner, or of all shared documents. It reads the sum at most once
 * a second per owner, not for every document, and without a lock: several processes may exceed the limit by the bytes
 * that they write within this second.
 */
export class DocumentRoom {
  readonly #sums = new Map<string, { bytes: number; readAt: number }>();

  /** `maxBytes`: 0 means unlimited. */
  constructor(private readonly maxBytes: number) {}

  /** Errors: payload_too_large if the owner would exceed the limit; the document's earlier version does not count. */
  async require(transaction: Transaction, document: RoomFor, more: number): Promise<void> {
    if (this.maxBytes === 0) return;
    const key = document.owner ?? '';
    const known = this.#sums.get(key);
    if (known && performance.now() - known.readAt < sumLifetimeMs && known.bytes + more <= this.maxBytes) {
      known.bytes += more;
      return;
    }
    const bytes = await storedBytes(transaction, document);
    if (bytes + more > this.maxBytes)
      throw new MegaNestError('payload_too_large', {
        what: `The total size of the stored documents with ${document.filename}`,
        limit: `${this.maxBytes} bytes of DOCUMENTS_LIMIT_BYTES; delete some`,
      });
    if (this.#sums.size >= maxSums) this.#sums.clear();
    this.#sums.set(key, { bytes: bytes + more, readAt: performance.now() });
  }
}

async function storedBytes(
  transaction: Transaction,
  { owner, collection, filename }: RoomFor,
): Promise<number> {
  const [row] = await transaction.query<{ bytes: string }>(
    `SELECT coalesce(sum(stored_bytes), 0) AS bytes FROM documents
     WHERE owner IS NOT DISTINCT FROM $1 AND NOT (collection = $2 AND filename = $3 AND pending_since IS NULL)`,
    [owner ?? null, collection, filename],
  );
  return Number(row?.bytes);
}
