import { MegaNestError } from '#contracts';
import type { Transaction } from '../transaction.js';

/** A document as it is handed over for storing. */
export interface NewDocument {
  /** A UUID; made where absent. */
  id?: string;
  collection?: string;
  /** Who it belongs to, where it does not belong to all: the owner of the vector store that its collection is. */
  owner?: string;
  filename: string;
  /** The link it was read from. */
  source?: string;
  /**
   * Hash of all that decides its chunks: bytes, chunking parameters, attributes. The same hash and embedding model
   * under the same name mean that nothing is to be done.
   */
  contentHash: string;
  mimeType: string;
  bytes: number;
  /** The user's attributes; every chunk carries them too, so that filters match. */
  metadata?: Record<string, unknown>;
  embeddingModel: string;
}

/** What storing a document came to. */
export interface ReplaceOutcome {
  documentId: string;
  chunks: number;
  outcome: 'added' | 'replaced' | 'unchanged';
}

/** What tells whether a document has to be read, chunked and embedded again. */
export interface DocumentVersion {
  id: string;
  contentHash: string;
  embeddingModel: string;
  chunks: number;
}

/** A sum that was read is used for so long, with what this process has written since. */
const sumLifetimeMs = 1_000;
const maxSums = 1_000;

type RoomFor = Pick<NewDocument, 'owner' | 'filename'> & { collection: string };

/**
 * Bounds the bytes of passages and vectors that one owner keeps, or that all who share keep. The sum over all documents is
 * read at most once a second and owner, not for every document, and without a lock: several processes may exceed the bound
 * by the bytes that they write within this second.
 */
export class DocumentRoom {
  readonly #sums = new Map<string, { bytes: number; readAt: number }>();

  /** `maxBytes`: 0 is no bound. */
  constructor(private readonly maxBytes: number) {}

  /** Errors: payload_too_large where the owner would have too much; the document's predecessor does not count. */
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
        what: `What is stored of documents, with ${document.filename},`,
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
