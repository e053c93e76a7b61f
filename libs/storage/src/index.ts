export { Database, openDatabase, type DatabaseOptions } from './database.js';
export { ChunksRepository, defaultFusion, type FusionSettings } from './chunks.repository.js';
export { type ChunkHit, type ChunkSearch } from './search/chunk-search.js';
export { type NewChunk } from './chunk-writer.js';
export {
  DocumentsRepository,
  type DocumentCounts,
  type DocumentVersion,
  type NewDocument,
  type ReplaceOutcome,
} from './documents.repository.js';
export { JobsRepository, type Job, type JobState } from './jobs.repository.js';
