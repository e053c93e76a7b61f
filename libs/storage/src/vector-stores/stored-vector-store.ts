export type VectorStoreStatus = 'expired' | 'in_progress' | 'completed';
export type IndexingStatus = 'in_progress' | 'completed' | 'failed' | 'cancelled';
export type AttributeValue = string | number | boolean;
export type Attributes = Record<string, AttributeValue>;

/** How many of a store's or a batch's files have come how far. */
export interface FileCounts {
  in_progress: number;
  completed: number;
  failed: number;
  cancelled: number;
  total: number;
}

/** A vector store as it is now; its id is the collection of its passages. */
export interface StoredVectorStore {
  id: string;
  name: string;
  description: string | null;
  metadata: Record<string, string>;
  /** Days without use after which it expires; null: never. */
  expiresDays: number | null;
  createdAt: Date;
  lastActiveAt: Date;
  status: VectorStoreStatus;
  fileCounts: FileCounts;
  /** What its passages take. */
  usageBytes: number;
}

/** What the owner may set. */
export interface VectorStoreFields {
  name: string;
  description: string | null;
  metadata: Record<string, string>;
  expiresDays: number | null;
}

/** A file in a vector store. */
export interface StoredVectorStoreFile {
  vectorStoreId: string;
  fileId: string;
  filename: string;
  status: IndexingStatus;
  attributes: Attributes;
  chunkTokens: number;
  overlapTokens: number;
  /** The document that its passages belong to, once it is indexed. */
  documentId: string | null;
  usageBytes: number;
  error: { code: string; message: string } | null;
  createdAt: Date;
}

/** A file that is to be attached. */
export interface NewVectorStoreFile {
  fileId: string;
  attributes: Attributes;
  chunkTokens: number;
  overlapTokens: number;
}

export interface StoredFileBatch {
  id: string;
  vectorStoreId: string;
  cancelled: boolean;
  createdAt: Date;
  fileCounts: FileCounts;
}

/** SQL of {@link FileCounts} as one json over rows of `vector_store_files`. */
export const countsColumn = `json_build_object(
  'in_progress', count(*) FILTER (WHERE attached.status = 'in_progress'),
  'completed', count(*) FILTER (WHERE attached.status = 'completed'),
  'failed', count(*) FILTER (WHERE attached.status = 'failed'),
  'cancelled', count(*) FILTER (WHERE attached.status = 'cancelled'),
  'total', count(attached.file_id))`;
