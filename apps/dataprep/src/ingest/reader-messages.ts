import type { ErrorBody } from '#contracts';
import type { ChunkingOptions } from '../chunking/chunk-document.js';
import type { ParsedDocument, SourceFile } from '../reading/parsed-document.js';
import type { PreparedDocument } from './prepare-document.js';

/** What a reader process is given; without `chunking` the document is read and not cut. */
export interface PreparationTask {
  file: SourceFile;
  chunking?: ChunkingOptions;
}

/** The one message that it answers a task with. */
export type PreparationOutcome = { document: PreparedDocument | ParsedDocument } | { error: ErrorBody };

/** Its first message: it is ready for tasks. */
export const readerReady = 'ready';

/** What a reader process may use; more ends it. */
export interface ReaderLimits {
  /** Resident memory of the whole process, buffers included. */
  maxMemoryBytes: number;
}
