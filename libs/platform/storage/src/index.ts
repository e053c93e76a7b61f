export { Database, openDatabase, openMigratedDatabase, type DatabaseOptions } from './database.js';
export { inspectDatabase, type DatabaseFacts } from './migrator.js';
export { ChunksRepository } from './documents/chunks.repository.js';
export { type ChunkHit, type ChunkSearch, type FusionSettings } from './search/chunk-search.js';
export { fuse, type HybridRankings } from './search/fusion.js';
export { ReembeddingRepository, type ForeignDocument } from './documents/reembedding.repository.js';
export { type NewChunk } from './documents/chunk-writer.js';
export { type DocumentVersion, type NewDocument, type ReplaceOutcome } from './documents/document.js';
export { DocumentsRepository } from './documents/documents.repository.js';
export { type DocumentCounts, type DocumentPage } from './documents/listed-document.js';
export { OriginalsRepository, type OriginalPiece } from './documents/originals.repository.js';
export {
  JobDocuments,
  maxClaimWeight,
  maxDocumentAttempts,
  type Advance,
  type ClaimedDocument,
  type DocumentOutcome,
  type EndedDocument,
  type SharedJob,
} from './job-documents.repository.js';
export { EnginesRepository } from './engines.repository.js';
export { JobsRepository, type Job, type JobEnd, type JobState } from './jobs.repository.js';
export { BatchesRepository, type BatchChange } from './batches/batches.repository.js';
export {
  type AnsweredRequest,
  type BatchCaller,
  type BatchProblem,
  type BatchRequest,
  type BatchResult,
  type BatchStatus,
  type RequestState,
  type StoredBatch,
} from './batches/batch.js';
export { type KeptLimits } from './responses/kept-bounds.js';
export { ConversationsRepository, type StoredConversation } from './responses/conversations.repository.js';
export {
  ResponseItemsRepository,
  type ItemPage,
  type ResponseChain,
} from './responses/response-items.repository.js';
export {
  ResponseLeasesRepository,
  type HeldLease,
  type Lease,
} from './responses/response-leases.repository.js';
export { ResponsesRepository } from './responses/responses.repository.js';
export {
  type EventRecord,
  type ItemRecord,
  type JsonObject,
  type NewStoredResponse,
  type ResponseEnd,
  type StoredResponse,
} from './responses/stored-response.js';
export {
  StoredCompletionsRepository,
  type CompletionFilter,
  type StoredCompletion,
} from './responses/stored-completions.repository.js';
export { type CursorPage, type CursorRequest } from './cursor.js';
export { UserRecordsRepository, type RecordScope } from './user-records.repository.js';
export {
  CitedPassagesRepository,
  IdempotentAnswersRepository,
  RateCountsRepository,
  SecretsRepository,
  type CitedPassage,
  type IdempotencyClaim,
  type KeptAnswer,
  type RateCount,
} from './shared-by-gateways.repository.js';
export {
  FilesRepository,
  type FileBounds,
  type FileFacts,
  type StoredFile,
} from './files/files.repository.js';
export { UploadsRepository, type StoredUpload } from './files/uploads.repository.js';
export {
  VectorStoresRepository,
  type StoredVectorStore,
  type VectorStoreFields,
} from './vector-stores/vector-stores.repository.js';
export {
  VectorStoreFilesRepository,
  type Attributes,
  type IndexingStatus,
  type NewVectorStoreFile,
  type StoredFileBatch,
  type StoredVectorStoreFile,
} from './vector-stores/vector-store-files.repository.js';
export { IndexingLeasesRepository, type IndexingTask } from './vector-stores/indexing-leases.repository.js';
