import type { ErrorBody } from '#contracts';
import type { ChunkingOptions } from '../chunking/chunk-document.js';
import type { SourceFile } from '../reading/parsed-document.js';
import type { PreparedDocument } from './prepare-document.js';

/** What a preparing thread is started with. */
export interface PreparationTask {
  file: SourceFile;
  chunking: ChunkingOptions;
}

/** The one message that it answers. */
export type PreparationOutcome = { document: PreparedDocument } | { error: ErrorBody };
