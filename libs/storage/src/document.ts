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
