import type { StoredFileBatch, StoredVectorStore, StoredVectorStoreFile } from '#platform/storage';
import { z } from 'zod';
import { secondsOf } from '../files/file-objects.js';

const counts = z.object({
  in_progress: z.int(),
  completed: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  total: z.int(),
});
const attributes = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));
const daySeconds = 24 * 60 * 60;

/** OpenAI's vector store object. */
export const vectorStoreSchema = z.object({
  id: z.string(),
  object: z.literal('vector_store'),
  created_at: z.int(),
  name: z.string(),
  description: z.string().nullable(),
  usage_bytes: z.int(),
  file_counts: counts,
  status: z.enum(['expired', 'in_progress', 'completed']),
  expires_after: z.object({ anchor: z.literal('last_active_at'), days: z.int() }).optional(),
  expires_at: z.int().nullable(),
  last_active_at: z.int(),
  metadata: z.record(z.string(), z.string()),
});
export type VectorStore = z.infer<typeof vectorStoreSchema>;

export function toVectorStore(store: StoredVectorStore): VectorStore {
  const { id, name, description, metadata, expiresDays, fileCounts, status, usageBytes } = store;
  const lastActiveAt = secondsOf(store.lastActiveAt);
  return {
    id,
    object: 'vector_store',
    created_at: secondsOf(store.createdAt),
    name,
    description,
    usage_bytes: usageBytes,
    file_counts: fileCounts,
    status,
    ...(expiresDays !== null && {
      expires_after: { anchor: 'last_active_at' as const, days: expiresDays },
    }),
    expires_at: expiresDays === null ? null : lastActiveAt + expiresDays * daySeconds,
    last_active_at: lastActiveAt,
    metadata,
  };
}

/** OpenAI's vector store file object; its id is the id of the file. */
export const vectorStoreFileSchema = z.object({
  id: z.string(),
  object: z.literal('vector_store.file'),
  usage_bytes: z.int(),
  created_at: z.int(),
  vector_store_id: z.string(),
  status: z.enum(['in_progress', 'completed', 'cancelled', 'failed']),
  last_error: z.object({ code: z.string(), message: z.string() }).nullable(),
  chunking_strategy: z.object({
    type: z.literal('static'),
    static: z.object({ max_chunk_size_tokens: z.int(), chunk_overlap_tokens: z.int() }),
  }),
  attributes,
});
export type VectorStoreFile = z.infer<typeof vectorStoreFileSchema>;

export function toVectorStoreFile(file: StoredVectorStoreFile): VectorStoreFile {
  return {
    id: file.fileId,
    object: 'vector_store.file',
    usage_bytes: file.usageBytes,
    created_at: secondsOf(file.createdAt),
    vector_store_id: file.vectorStoreId,
    status: file.status,
    last_error: file.error,
    chunking_strategy: {
      type: 'static',
      static: { max_chunk_size_tokens: file.chunkTokens, chunk_overlap_tokens: file.overlapTokens },
    },
    attributes: file.attributes,
  };
}

/** OpenAI's file batch object. */
export const fileBatchSchema = z.object({
  id: z.string(),
  object: z.literal('vector_store.files_batch'),
  created_at: z.int(),
  vector_store_id: z.string(),
  status: z.enum(['in_progress', 'completed', 'cancelled', 'failed']),
  file_counts: counts,
});
export type FileBatch = z.infer<typeof fileBatchSchema>;

export function toFileBatch(batch: StoredFileBatch): FileBatch {
  return {
    id: batch.id,
    object: 'vector_store.files_batch',
    created_at: secondsOf(batch.createdAt),
    vector_store_id: batch.vectorStoreId,
    status: batchStatus(batch),
    file_counts: batch.fileCounts,
  };
}

/** A batch has failed where all its files have failed; partial failures show in the counts. */
function batchStatus({ cancelled, fileCounts }: StoredFileBatch): FileBatch['status'] {
  if (cancelled) return 'cancelled';
  if (fileCounts.in_progress > 0) return 'in_progress';
  return fileCounts.total > 0 && fileCounts.failed === fileCounts.total ? 'failed' : 'completed';
}

export function deletedSchemaOf<Name extends string>(object: Name) {
  return z.object({ id: z.string(), object: z.literal(object), deleted: z.literal(true) });
}

export const fileContentSchema = z.object({
  object: z.literal('vector_store.file_content.page'),
  data: z.array(z.object({ type: z.literal('text'), text: z.string() })),
  has_more: z.boolean(),
  next_page: z.string().nullable(),
});

export const searchResultsSchema = z.object({
  object: z.literal('vector_store.search_results.page'),
  search_query: z.array(z.string()),
  data: z.array(
    z.object({
      file_id: z.string(),
      filename: z.string(),
      score: z.number().min(0).max(1),
      attributes,
      content: z.array(z.object({ type: z.literal('text'), text: z.string() })),
    }),
  ),
  has_more: z.boolean(),
  next_page: z.string().nullable(),
});
