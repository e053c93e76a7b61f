import type { ErrorBody } from '#contracts';
import type { ChunkingOptions } from '../chunking/chunk-document.js';
import type { ParsedDocument, SourceFile } from '../reading/parsed-document.js';
import type { PreparedDocument } from './prepare-document.js';

/** What a preparing thread is started with; without `chunking` the document is read and not cut. */
export interface PreparationTask {
  file: SourceFile;
  chunking?: ChunkingOptions;
}

/** The one message that it answers. */
export type PreparationOutcome = { document: PreparedDocument | ParsedDocument } | { error: ErrorBody };
